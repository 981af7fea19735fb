/* The loop of benches/speed.rs over the C library: prints megabytes per CPU-second of both ends. */
#include <anabranch/anabranch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MESSAGE = 65536, BUFFER = 4 << 20, QUEUE = 16384, MTU = 1500, ONE_WAY = 5 * 1000 * 1000 };

typedef struct {
    int64_t at;
    anb_route route;
    size_t length;
    unsigned char bytes[MTU];
} Packet;

typedef struct {
    Packet *packets[QUEUE];
    size_t first, count;
} Queue;

/* Packets that arrived, for reuse: the last one first, as its memory is in the cache. */
static Packet *spare[QUEUE];
static size_t spares;

static anb_ep *endpoints[2];
static Queue queues[2];
static int64_t now;

static void check(long result) {
    if (result >= 0) return;
    fprintf(stderr, "%s\n", anb_strerror((int)result));
    exit(1);
}

static anb_ip address(int side) {
    anb_ip ip = { 4, { 0, 0, 0 }, 0, { 10, 0, 0, 0 } };
    ip.bytes[3] = (uint8_t)(1 + side);
    return ip;
}

static anb_ep *make(int side) {
    anb_setup setup;
    anb_ip ours = address(side);
    anb_ep *ep;
    ANB_INIT(&setup);
    setup.abi = ANB_ABI;
    setup.port = (uint16_t)(5001 + side);
    setup.addresses = &ours;
    setup.n_addresses = 1;
    setup.seed_kind = ANB_SEED_GIVEN;
    memset(setup.seed, side, sizeof setup.seed);
    check(anb_ep_new(&setup, &ep, NULL));
    check(anb_ep_set(ep, 0, 0, "send_buffer", "4 MiB", NULL));
    check(anb_ep_set(ep, 0, 0, "receive_buffer", "4 MiB", NULL));
    return ep;
}

static void drain(int side) {
    Queue *queue = &queues[1 - side];
    for (;;) {
        Packet *packet = spares > 0 ? spare[--spares] : malloc(sizeof(Packet));
        ssize_t length;
        if (packet == NULL || queue->count == QUEUE) abort();
        packet->route.size = sizeof packet->route;
        length = anb_ep_transmit(endpoints[side], now, packet->bytes, MTU, &packet->route);
        check((long)length);
        if (length == 0) {
            spare[spares++] = packet;
            return;
        }
        packet->at = now + ONE_WAY;
        packet->length = (size_t)length;
        queue->packets[(queue->first + queue->count) % QUEUE] = packet;
        queue->count++;
    }
}

static void step(void) {
    int64_t next = ANB_NEVER;
    for (int side = 0; side < 2; side++) {
        int64_t timeout = anb_ep_timeout(endpoints[side]);
        Queue *queue = &queues[side];
        if (timeout < next) next = timeout;
        if (queue->count > 0 && queue->packets[queue->first]->at < next) next = queue->packets[queue->first]->at;
    }
    if (next > now) now = next;
    for (int side = 0; side < 2; side++) {
        Queue *queue = &queues[side];
        while (queue->count > 0 && queue->packets[queue->first]->at <= now) {
            Packet *packet = queue->packets[queue->first];
            packet->route.udp_port = 9899;
            check(anb_ep_handle(endpoints[side], now, &packet->route, packet->bytes, packet->length));
            queue->first = (queue->first + 1) % QUEUE;
            queue->count--;
            spare[spares++] = packet;
            drain(side);
        }
        if (anb_ep_timeout(endpoints[side]) <= now) {
            check(anb_ep_on_timeout(endpoints[side], now));
            drain(side);
        }
    }
}

static uint64_t exchange(uint32_t assoc) {
    static unsigned char given[MESSAGE], taken[MESSAGE];
    uint64_t received = 0;
    anb_event event;
    anb_msg msg;
    anb_info info;
    ANB_INIT(&event);
    ANB_INIT(&msg);
    ANB_INIT(&info);
    if (given[1] == 0) {
        for (int i = 0; i < MESSAGE; i++) given[i] = (unsigned char)(i * 7);
    }
    while (anb_ep_event(endpoints[0], &event) > 0) {
        if (event.kind != ANB_CONNECTED && event.kind != ANB_WRITABLE) continue;
        for (;;) {
            int result = anb_ep_send(endpoints[0], now, assoc, &msg, given, MESSAGE);
            if (result == -EAGAIN) break;
            check(result);
        }
        drain(0);
    }
    while (anb_ep_event(endpoints[1], &event) > 0) {
        ssize_t length;
        if (event.kind != ANB_READABLE) continue;
        while ((length = anb_ep_recv(endpoints[1], now, event.assoc, taken, MESSAGE, &info)) > 0) {
            received += (uint64_t)length;
        }
        drain(1);
    }
    return received;
}

static double cpu(void) { return (double)clock() / CLOCKS_PER_SEC; }

int main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 1, begin;
    uint64_t received = 0;
    uint32_t assoc;
    anb_peer peer;
    anb_ip to = address(1);
    free(malloc(BUFFER)); /* makes glibc keep the memory of messages that were read */
    for (int side = 0; side < 2; side++) {
        endpoints[side] = make(side);
    }
    check(anb_ep_listen(endpoints[1], 1));
    ANB_INIT(&peer);
    peer.port = 5002;
    peer.addresses = &to;
    peer.n_addresses = 1;
    check(anb_ep_connect(endpoints[0], now, &peer, &assoc, NULL));
    drain(0);
    begin = cpu();
    while (cpu() - begin < seconds) {
        for (int i = 0; i < 1000; i++) {
            step();
            received += exchange(assoc);
        }
    }
    printf("%.1f\n", (double)received / (cpu() - begin) / 1e6);
    return 0;
}
