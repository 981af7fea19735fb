/* One-to-many sockets as Linux has them (RFC 6458, section 3). */
#include "sockets.h"
#include <fcntl.h>

static void peeloff(void) {
    int listener = server(SOCK_SEQPACKET), one = opened(SOCK_STREAM), two = opened(SOCK_STREAM);
    char data[64], text[8];
    set_int(listener, SCTP_RECVRCVINFO, 1);
    join(one);
    join(two);
    for (int n = 0; n < 5; n++) {
        NEED(send(one, (sprintf(text, "one%d", n), text), 4, 0) == 4);
        pause_ms(30);
        NEED(send(two, (sprintf(text, "two%d", n), text), 4, 0) == 4);
        pause_ms(30);
    }
    pause_ms(200);
    NEED(take(listener, data, 2) == 2 && !memcmp(data, "on", 2));
    NEED(!(last_flags & MSG_EOR));
    sctp_peeloff_arg_t peel = {.associd = 9999};
    socklen_t len = sizeof peel;
    FAILS(getsockopt(listener, IPPROTO_SCTP, SCTP_SOCKOPT_PEELOFF, &peel, &len), EINVAL);
    peel.associd = last_id;
    NEED(getsockopt(listener, IPPROTO_SCTP, SCTP_SOCKOPT_PEELOFF, &peel, &len) >= 0);
    NEED(peel.sd >= 0);
    NEED(take(peel.sd, data, 64) == 2 && !memcmp(data, "e0", 2));
    for (int n = 1; n < 5; n++)
        NEED(take(peel.sd, data, 64) == 4 && data[0] == 'o' && data[3] == '0' + n);
    for (int n = 0; n < 5; n++)
        NEED(take(listener, data, 64) == 4 && data[0] == 't' && data[3] == '0' + n);
    NEED(send(peel.sd, "back", 4, 0) == 4);
    NEED(take(one, data, 64) == 4 && !memcmp(data, "back", 4));
    NEED(send(one, "new", 3, 0) == 3);
    NEED(take(peel.sd, data, 64) == 3);
    FAILS(getsockopt(peel.sd, IPPROTO_SCTP, SCTP_SOCKOPT_PEELOFF, &peel, &len), EINVAL);
    close(peel.sd);
    NEED(take(one, data, 64) == 0);
    NEED(send(two, "more", 4, 0) == 4);
    NEED(take(listener, data, 64) == 4);
}

/* With more unread messages than the connection to the host process holds, each socket gets its own. */
static void peeloff_full(void) {
    enum { MESSAGES = 60, LENGTH = 8000 };
    int listener = server(SOCK_SEQPACKET), clients[2];
    static int data[LENGTH / sizeof(int)];
    set_int(listener, SCTP_RECVRCVINFO, 1);
    for (int n = 0; n < 2; n++) {
        clients[n] = opened(SOCK_STREAM);
        join(clients[n]);
    }
    for (int n = 0; n < MESSAGES; n++) {
        for (data[0] = 0; data[0] < 2; data[0]++) {
            data[1] = n;
            NEED(send(clients[data[0]], data, sizeof data, 0) == sizeof data);
        }
    }
    pause_ms(500);
    NEED(take(listener, data, sizeof data) == sizeof data);
    int first = data[0], next[2] = {0};
    sctp_peeloff_arg_t peel = {.associd = last_id};
    socklen_t len = sizeof peel;
    NEED(data[1] == next[first]++);
    NEED(getsockopt(listener, IPPROTO_SCTP, SCTP_SOCKOPT_PEELOFF, &peel, &len) >= 0);
    for (int n = 0; n < 2 * MESSAGES - 1; n++) {
        struct pollfd ready[2] = {{peel.sd, POLLIN, 0}, {listener, POLLIN, 0}};
        NEED(poll(ready, 2, 2000) > 0);
        int peeled = ready[0].revents != 0;
        NEED(take(peeled ? peel.sd : listener, data, sizeof data) == sizeof data);
        NEED(data[0] == (peeled ? first : 1 - first) && data[1] == next[data[0]]++);
    }
}

/* Messages that wait because all buffers are full go with their association. */
static void peeloff_unsent(void) {
    int listener = server(SOCK_STREAM), many = opened(SOCK_SEQPACKET | SOCK_NONBLOCK), small = 65536, sent = 0;
    static int data[1000];
    struct sockaddr_in to = at(PORT, "127.0.0.1");
    struct sctp_getaddrs_old given = {.addr_num = sizeof to, .addrs = (void *)&to};
    socklen_t len = sizeof given;
    NEED(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small) == 0);
    NEED(setsockopt(many, SOL_SOCKET, SO_SNDBUF, &small, sizeof small) == 0);
    FAILS(getsockopt(many, IPPROTO_SCTP, SCTP_SOCKOPT_CONNECTX3, &given, &len), EINPROGRESS);
    int accepted = accept(listener, 0, 0);
    NEED(accepted >= 0);
    for (int pauses = 0; pauses < 5;) {
        data[0] = sent;
        if (post(many, data, sizeof data, 0, given.assoc_id, 0) == sizeof data)
            sent++;
        else
            pauses++, pause_ms(50);
    }
    sctp_peeloff_arg_t peel = {.associd = given.assoc_id};
    len = sizeof peel;
    NEED(getsockopt(many, IPPROTO_SCTP, SCTP_SOCKOPT_PEELOFF, &peel, &len) >= 0);
    data[0] = sent++;
    NEED(send(peel.sd, data, sizeof data, 0) == sizeof data);
    for (int n = 0; n < sent; n++)
        NEED(take(accepted, data, sizeof data) == sizeof data && data[0] == n);
}

/* While a one-to-many socket connects to a silent peer, it connects to others, and sends. */
static void several(void) {
    int many = opened(SOCK_SEQPACKET), listener = server(SOCK_SEQPACKET), silent = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in nowhere = at(7777, "127.0.0.1"), to = at(PORT, "127.0.0.1"), other = at(PORT + 1, "127.0.0.1");
    struct sctp_udpencaps encaps = {.sue_port = htons(7777)};
    char data[8];
    NEED(bind(silent, (void *)&nowhere, sizeof nowhere) == 0);
    set(many, SCTP_REMOTE_UDP_ENCAPS_PORT, &encaps, sizeof encaps);
    NEED(fcntl(many, F_SETFL, O_NONBLOCK) == 0);
    FAILS(connect(many, (void *)&other, sizeof other), EINPROGRESS);
    FAILS(connect(many, (void *)&other, sizeof other), EALREADY);
    NEED(fcntl(many, F_SETFL, 0) == 0);
    encaps.sue_port = htons(9899);
    set(many, SCTP_REMOTE_UDP_ENCAPS_PORT, &encaps, sizeof encaps);
    NEED(connect(many, (void *)&to, sizeof to) == 0);
    FAILS(connect(many, (void *)&to, sizeof to), EISCONN);
    NEED(post(many, "a", 1, 0, 0, &to) == 1);
    NEED(take(listener, data, sizeof data) == 1 && data[0] == 'a');
    /* A blocking connect ends when its time is over. */
    struct timeval limit = {.tv_usec = 200000};
    encaps.sue_port = htons(7777);
    set(many, SCTP_REMOTE_UDP_ENCAPS_PORT, &encaps, sizeof encaps);
    NEED(setsockopt(many, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0);
    other.sin_port = htons(PORT + 2);
    FAILS(connect(many, (void *)&other, sizeof other), EINPROGRESS);
}

static void autoclose(void) {
    int listener = server(SOCK_SEQPACKET), fd = opened(SOCK_SEQPACKET), value = 0;
    socklen_t len = sizeof value;
    struct sockaddr_in to = at(PORT, "127.0.0.1");
    set_int(fd, SCTP_AUTOCLOSE, 1);
    NEED(getsockopt(fd, IPPROTO_SCTP, SCTP_AUTOCLOSE, &value, &len) == 0 && value == 1);
    FAILS(setsockopt(opened(SOCK_STREAM), IPPROTO_SCTP, SCTP_AUTOCLOSE, &value, sizeof value), EOPNOTSUPP);
    events(fd);
    NEED(post(fd, "a", 1, 0, 0, &to) == 1);
    told(fd, SCTP_ASSOC_CHANGE, SCTP_COMM_UP);
    int id = last_id;
    pause_ms(700);
    double sent = seconds();
    NEED(post(fd, "b", 1, 0, id, 0) == 1);
    told(fd, SCTP_ASSOC_CHANGE, SCTP_SHUTDOWN_COMP);
    NEED(seconds() - sent > 0.9 && seconds() - sent < 3);
    close(listener);
}

/* SCTP_SENDALL: one message for all associations of a socket. */
static void everyone(void) {
    enum { PEERS = 3 };
    int many = opened(SOCK_SEQPACKET), clients[PEERS];
    char data[8];
    struct sockaddr_in address = at(PORT, "127.0.0.1");
    NEED(bind(many, (void *)&address, sizeof address) == 0 && listen(many, 9) == 0);
    for (int n = 0; n < PEERS; n++) {
        clients[n] = opened(SOCK_STREAM);
        join(clients[n]);
        NEED(send(clients[n], "x", 1, 0) == 1 && take(many, data, 8) == 1);
    }
    struct sctp_sndinfo info = {.snd_sid = 2, .snd_flags = SCTP_SENDALL};
    NEED(post_with(many, "all", 3, info, 0) == 3);
    for (int n = 0; n < PEERS; n++)
        NEED(take(clients[n], data, 8) == 3 && !memcmp(data, "all", 3));
    info.snd_flags = SCTP_SENDALL | SCTP_EOF;
    NEED(post_with(many, "", 0, info, 0) == 0);
    for (int n = 0; n < PEERS; n++)
        NEED(take(clients[n], data, 8) == 0);
    /* A one-to-one socket has one association. */
    int client = -1, accepted;
    close(many);
    pair_up(&client, &accepted);
    info.snd_flags = SCTP_SENDALL;
    NEED(post_with(client, "one", 3, info, 0) == 3);
    NEED(take(accepted, data, 8) == 3 && !memcmp(data, "one", 3));
}

int main(int count, char **names) {
    static const struct check checks[] = {
        {"peeloff", peeloff}, {"autoclose", autoclose}, {"everyone", everyone}, {"peeloff_full", peeloff_full},
        {"peeloff_unsent", peeloff_unsent}, {"several", several}};
    return run(count, names, checks, sizeof checks / sizeof *checks);
}
