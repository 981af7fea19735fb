/* A server that sends each message back, and its client, on SCTP sockets: one-to-many and one-to-one.
 *
 *     echo server UDP-PORT
 *     echo client ADDRESS UDP-PORT
 */
#define _POSIX_C_SOURCE 200809L
#include <anabranch/sockets.h>
#include <arpa/inet.h>
#include <linux/sctp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORT = 5001, MESSAGES = 1000, LONGEST = 4000, STREAMS = 5 };

static void need(int done, const char *what) {
    if (!done) {
        perror(what);
        exit(1);
    }
}

/* Runs the stack in a thread of this process. */
static void start(int udp_port, int remote_udp_port) {
    anb_host_setup setup;
    anb_why why;
    ANB_INIT(&setup);
    setup.abi = ANB_ABI;
    setup.udp_port = (uint16_t)udp_port;
    setup.remote_udp_port = (uint16_t)remote_udp_port;
    setup.options = "sack_delay = \"40 ms\"\n";
    if (anb_host_start(&setup, &why) != 0) {
        fprintf(stderr, "anb_host_start: %s\n", why.text);
        exit(1);
    }
}

/* Subscribes to changes of associations and to the stream of each message; messages are sent without delay. */
static void subscribe(int fd) {
    struct sctp_event event;
    int on = 1;
    memset(&event, 0, sizeof event);
    event.se_type = SCTP_ASSOC_CHANGE;
    event.se_on = 1;
    need(anb_setsockopt(fd, IPPROTO_SCTP, SCTP_EVENT, &event, sizeof event) == 0, "SCTP_EVENT");
    need(anb_setsockopt(fd, IPPROTO_SCTP, SCTP_RECVRCVINFO, &on, sizeof on) == 0, "SCTP_RECVRCVINFO");
    need(anb_setsockopt(fd, IPPROTO_SCTP, SCTP_NODELAY, &on, sizeof on) == 0, "SCTP_NODELAY");
}

/* Waits for a message, and returns its length, or 0 if an association has ended. */
static size_t next(int fd, void *data, struct sctp_rcvinfo *info) {
    struct pollfd ready = {fd, POLLIN, 0};
    struct iovec part = {data, LONGEST};
    for (;;) {
        socklen_t info_len = sizeof *info;
        int flags = 0;
        ssize_t got;
        need(poll(&ready, 1, 10000) == 1, "poll");
        got = anb_recvv(fd, &part, 1, NULL, NULL, info, &info_len, &flags);
        need(got >= 0, "anb_recvv");
        if (got == 0) return 0;
        if (flags & MSG_NOTIFICATION) {
            const struct sctp_assoc_change *change = data;
            if (change->sac_state == SCTP_COMM_UP) printf("association up\n");
            if (change->sac_state == SCTP_SHUTDOWN_COMP) return 0;
            continue;
        }
        return (size_t)got;
    }
}

/* Sends a message on the stream of an association. */
static void post(int fd, const void *data, size_t len, int stream, int id) {
    struct sctp_sndinfo info;
    struct iovec part = {(void *)data, len};
    memset(&info, 0, sizeof info);
    info.snd_sid = (uint16_t)stream;
    info.snd_assoc_id = id;
    need(anb_sendv(fd, &part, 1, NULL, &info, sizeof info, ANB_SENDV_SNDINFO, 0) == (ssize_t)len, "anb_sendv");
}

static void serve(int udp_port) {
    struct sockaddr_in any;
    static char data[LONGEST];
    struct sctp_rcvinfo info;
    size_t len;
    int fd, count = 0;
    start(udp_port, 0);
    fd = anb_socket(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP);
    need(fd >= 0, "anb_socket");
    memset(&any, 0, sizeof any);
    any.sin_family = AF_INET;
    any.sin_port = htons(PORT);
    subscribe(fd);
    need(anb_bind(fd, (struct sockaddr *)&any, sizeof any) == 0, "anb_bind");
    need(anb_listen(fd, 5) == 0, "anb_listen");
    printf("serving\n");
    fflush(stdout);
    for (; (len = next(fd, data, &info)) > 0; count++) post(fd, data, len, info.rcv_sid, info.rcv_assoc_id);
    printf("%d messages sent back\n", count);
    need(anb_close(fd) == 0, "anb_close");
}

static void ask(const char *address, int udp_port) {
    struct sockaddr_in server;
    static char sent[LONGEST], got[LONGEST];
    struct sockaddr *peers;
    struct sctp_rcvinfo info;
    size_t bytes = 0;
    int fd, n;
    start(0, udp_port);
    fd = anb_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP);
    need(fd >= 0, "anb_socket");
    memset(&server, 0, sizeof server);
    server.sin_family = AF_INET;
    server.sin_port = htons(PORT);
    need(inet_pton(AF_INET, address, &server.sin_addr) == 1, address);
    subscribe(fd);
    need(anb_connectx(fd, (struct sockaddr *)&server, 1, NULL) == 0, "anb_connectx");
    n = anb_getpaddrs(fd, 0, &peers);
    need(n >= 1, "anb_getpaddrs");
    printf("the server has %d address%s\n", n, n == 1 ? "" : "es");
    anb_freeaddrs(peers);
    for (n = 0; n < MESSAGES; n++) {
        size_t len = 1 + (size_t)(n * 7919) % LONGEST;
        memset(sent, n, len);
        post(fd, sent, len, n % STREAMS, 0);
        need(next(fd, got, &info) == len && memcmp(sent, got, len) == 0, "the same message");
        need(info.rcv_sid == n % STREAMS, "the same stream");
        bytes += len;
    }
    printf("%d messages, %lu bytes came back\n", n, (unsigned long)bytes);
    need(anb_close(fd) == 0, "anb_close");
}

int main(int count, char **words) {
    if (count == 3 && strcmp(words[1], "server") == 0) {
        serve(atoi(words[2]));
    } else if (count == 4 && strcmp(words[1], "client") == 0) {
        ask(words[2], atoi(words[3]));
    } else {
        fprintf(stderr, "usage: %s server UDP-PORT | client ADDRESS UDP-PORT\n", words[0]);
        return 2;
    }
    need(anb_host_stop() == 0, "anb_host_stop");
    return 0;
}
