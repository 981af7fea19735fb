/* A minimal SCTP peer in UDP at 127.0.0.2, which sends chunks that the stack never sends. */

enum { UDP_PORT = 9899, RAW_UDP_PORT = 9900, CHUNKS = 1200 };

struct raw_peer {
    int fd, port;
    uint32_t tag, tsn;
};

static uint32_t crc32c(const unsigned char *bytes, size_t len) {
    uint32_t crc = ~0u;
    for (size_t n = 0; n < len; n++) {
        crc ^= bytes[n];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    return ~crc;
}

static void raw_send(const struct raw_peer *peer, const void *chunk, size_t len) {
    unsigned char packet[12 + CHUNKS] = {peer->port >> 8, peer->port & 255, PORT >> 8, PORT & 255};
    uint32_t tag = htonl(peer->tag);
    memcpy(packet + 4, &tag, 4);
    memcpy(packet + 12, chunk, len);
    len = 12 + (len + 3) / 4 * 4;
    uint32_t crc = crc32c(packet, len);
    memcpy(packet + 8, &crc, 4);
    struct sockaddr_in to = at(UDP_PORT, "127.0.0.1");
    NEED(sendto(peer->fd, packet, len, 0, (void *)&to, sizeof to) == (ssize_t)len);
}

/* Waits for a packet whose first chunk has this type; returns the length of its chunks. */
static size_t raw_take(const struct raw_peer *peer, int type, unsigned char *chunks) {
    unsigned char packet[12 + CHUNKS];
    for (;;) {
        struct pollfd ready = {peer->fd, POLLIN, 0};
        NEED(poll(&ready, 1, 5000) == 1);
        ssize_t got = recv(peer->fd, packet, sizeof packet, 0);
        NEED(got > 12);
        memcpy(chunks, packet + 12, got - 12);
        if (chunks[0] == type)
            return got - 12;
    }
}

/* Connects; a second time as a peer that has restarted. Announces PR-SCTP and Adaptation Layer Indication 0xabcd. */
static void raw_connect(struct raw_peer *peer) {
    enum { INIT = 1, INIT_ACK = 2, COOKIE_ECHO = 10, COOKIE_ACK = 11, COOKIE = 7 };
    peer->tag = 0, peer->tsn = 1;
    static unsigned char own_tag = 6;
    /* Another tag each time, a_rwnd 0x10000, 10 streams each way, first TSN 1. */
    const unsigned char init[] = {INIT, 0, 0, 32, 0, 0, 0, ++own_tag, 0, 1, 0, 0, 0, 10, 0, 10, 0, 0, 0, 1,
                                  0xc0, 0, 0, 4, 0xc0, 6, 0, 8, 0, 0, 0xab, 0xcd};
    unsigned char chunks[CHUNKS], echo[CHUNKS] = {COOKIE_ECHO};
    raw_send(peer, init, sizeof init);
    size_t len = raw_take(peer, INIT_ACK, chunks), at = 20;
    uint32_t tag;
    memcpy(&tag, chunks + 4, 4);
    peer->tag = ntohl(tag);
    while (at + 4 <= len) {
        size_t kind = chunks[at] << 8 | chunks[at + 1], size = chunks[at + 2] << 8 | chunks[at + 3];
        if (kind == COOKIE) {
            memcpy(echo + 2, chunks + at + 2, size - 2);
            raw_send(peer, echo, size);
            raw_take(peer, COOKIE_ACK, chunks);
            return;
        }
        NEED(size >= 4);
        at += (size + 3) / 4 * 4;
    }
    NEED(!"an INIT ACK has a cookie");
}

/* A connected peer at an SCTP port. */
static struct raw_peer raw_peer(int port) {
    struct raw_peer peer = {.fd = socket(AF_INET, SOCK_DGRAM, 0), .port = port};
    struct sockaddr_in from = at(RAW_UDP_PORT, "127.0.0.2");
    NEED(bind(peer.fd, (void *)&from, sizeof from) == 0);
    raw_connect(&peer);
    return peer;
}

enum { LAST = 1, FIRST = 2 };

/* A DATA chunk of 1000 bytes on stream 0, with flags for the first and last of a message. */
static void raw_data(struct raw_peer *peer, int flags, int sequence) {
    unsigned char chunk[16 + 1000] = {0, flags, sizeof chunk >> 8, sizeof chunk & 255};
    uint32_t tsn = htonl(peer->tsn++);
    memcpy(chunk + 4, &tsn, 4);
    chunk[11] = sequence;
    memset(chunk + 16, 'a' + peer->tsn % 26, 1000);
    raw_send(peer, chunk, sizeof chunk);
}
