/* Two endpoints in one process transfer 1 MB over a queue that loses packets. There is no socket and no clock, so
 * that each run sends the same packets: the digest of all packets and of all data is the same, too.
 *
 *     cc -std=c99 sansio.c $(pkg-config --cflags --libs anabranch) -o sansio && ./sansio */
#include <anabranch/anabranch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOTAL = 1 << 20, MESSAGE = 10000, QUEUE = 4096, MTU = 1500, DELAY = 10 * 1000 * 1000 };

typedef struct {
    int64_t at; /* arrival */
    anb_route route;
    size_t length;
    unsigned char bytes[MTU];
} Packet;

/* The packets on the way to one endpoint: all have the same delay, so that they arrive in order. */
typedef struct {
    Packet packets[QUEUE];
    size_t first, count;
} Queue;

static anb_ep *endpoints[2];
static Queue queues[2];
static int64_t now;
static uint64_t digest = 14695981039346656037u;
static uint32_t noise = 1;
static int lost;

static void add_to_digest(const void *data, size_t length) {
    const unsigned char *bytes = data;
    for (size_t i = 0; i < length; i++) digest = (digest ^ bytes[i]) * 1099511628211u;
}

static void check(int result, const char *what, const anb_why *why) {
    if (result >= 0) return;
    fprintf(stderr, "%s: %s\n", what, why != NULL ? why->text : anb_strerror(result));
    exit(1);
}

static anb_ip address(int side) {
    anb_ip ip = { 4, { 0, 0, 0 }, 0, { 10, 0, 0, 0 } };
    ip.bytes[3] = (uint8_t)(1 + side);
    return ip;
}

static anb_ep *make(int side) {
    anb_setup setup;
    anb_why why;
    anb_ep *ep;
    anb_ip ours = address(side);
    ANB_INIT(&setup);
    setup.abi = ANB_ABI;
    setup.port = (uint16_t)(5001 + side);
    setup.addresses = &ours;
    setup.n_addresses = 1;
    setup.seed_kind = ANB_SEED_GIVEN; /* on a network: ANB_SEED_SYSTEM, which is 0 */
    setup.seed[0] = (uint8_t)side;
    check(anb_ep_new(&setup, &ep, &why), "anb_ep_new", &why);
    return ep;
}

/* Takes all packets that an endpoint sends, and loses about one of twenty. */
static void drain(int side) {
    Queue *queue = &queues[1 - side];
    for (;;) {
        Packet *packet = &queue->packets[(queue->first + queue->count) % QUEUE];
        ssize_t length;
        ANB_INIT(&packet->route);
        length = anb_ep_transmit(endpoints[side], now, packet->bytes, MTU, &packet->route);
        check((int)length, "anb_ep_transmit", NULL);
        if (length == 0) return;
        add_to_digest(packet->bytes, (size_t)length);
        noise = noise * 1664525u + 1013904223u;
        if (noise >> 16 < 65536 / 20 || queue->count + 1 == QUEUE) {
            lost++;
            continue;
        }
        packet->at = now + DELAY;
        packet->length = (size_t)length;
        queue->count++;
    }
}

/* Moves to the next arrival or timeout, and handles it. */
static void step(void) {
    int64_t next = ANB_NEVER;
    for (int side = 0; side < 2; side++) {
        int64_t timeout = anb_ep_timeout(endpoints[side]);
        Queue *queue = &queues[side];
        if (timeout < next) next = timeout;
        if (queue->count > 0 && queue->packets[queue->first].at < next) next = queue->packets[queue->first].at;
    }
    if (next > now) now = next;
    for (int side = 0; side < 2; side++) {
        Queue *queue = &queues[side];
        while (queue->count > 0 && queue->packets[queue->first].at <= now) {
            Packet *packet = &queue->packets[queue->first];
            anb_route route = packet->route; /* src is the sender, dst the receiver */
            route.udp_port = 9899;
            check(anb_ep_handle(endpoints[side], now, &route, packet->bytes, packet->length), "anb_ep_handle", NULL);
            queue->first = (queue->first + 1) % QUEUE;
            queue->count--;
            drain(side);
        }
        if (anb_ep_timeout(endpoints[side]) <= now) {
            anb_ep_on_timeout(endpoints[side], now);
            drain(side);
        }
    }
}

/* Sends until everything is queued or the send buffer is full. */
static void send_some(uint32_t assoc, size_t *sent) {
    unsigned char data[MESSAGE];
    anb_msg msg;
    ANB_INIT(&msg);
    while (*sent < TOTAL) {
        size_t length = TOTAL - *sent < MESSAGE ? TOTAL - *sent : MESSAGE;
        int result;
        for (size_t i = 0; i < length; i++) data[i] = (unsigned char)((*sent + i) * 31 >> 3);
        result = anb_ep_send(endpoints[0], now, assoc, &msg, data, length);
        if (result == -EAGAIN) return;
        check(result, "anb_ep_send", NULL);
        *sent += length;
    }
}

int main(void) {
    size_t sent = 0, received = 0;
    uint32_t assoc, theirs = 0;
    int connected = 0, closed = 0;
    anb_peer peer;
    anb_event event;
    anb_why why;
    anb_ip to = address(1);

    endpoints[0] = make(0);
    endpoints[1] = make(1);
    check(anb_ep_set(endpoints[0], now, 0, "max_burst", "8", &why), "anb_ep_set", &why);
    check(anb_ep_listen(endpoints[1], 1), "anb_ep_listen", NULL);
    ANB_INIT(&peer);
    peer.port = 5002;
    peer.addresses = &to;
    peer.n_addresses = 1;
    check(anb_ep_connect(endpoints[0], now, &peer, &assoc, &why), "anb_ep_connect", &why);
    drain(0);

    while (!closed) {
        step();
        ANB_INIT(&event);
        while (anb_ep_event(endpoints[0], &event) > 0) {
            connected |= event.kind == ANB_CONNECTED;
            if (event.kind == ANB_CLOSED) {
                printf("%s\n", (char *)event.reason);
                closed = 1;
            }
        }
        while (anb_ep_event(endpoints[1], &event) > 0) {
            if (event.kind == ANB_CONNECTED) theirs = event.assoc;
        }
        if (connected && sent < TOTAL) {
            send_some(assoc, &sent);
            if (sent == TOTAL) anb_ep_end(endpoints[0], now, assoc, 0, NULL, 0);
            drain(0);
        }
        while (theirs != 0) {
            unsigned char data[4000];
            anb_info info;
            ssize_t length;
            ANB_INIT(&info);
            length = anb_ep_recv(endpoints[1], now, theirs, data, sizeof data, &info);
            if (length <= 0) break;
            add_to_digest(data, (size_t)length);
            received += (size_t)length;
        }
        drain(1);
    }
    printf("%lu bytes, %d packets lost, digest %016llx\n", (unsigned long)received, lost,
           (unsigned long long)digest);
    anb_ep_free(endpoints[0]);
    anb_ep_free(endpoints[1]);
    return received == TOTAL ? 0 : 1;
}
