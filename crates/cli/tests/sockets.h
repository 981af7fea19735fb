/* Functions for all checks of SCTP sockets. Each check is a command; exit code 0 means that it has passed. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sctp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "need.h"
#define FAILS(call, number) NEED((call) == -1 && errno == (number))

enum { PORT = 5001 };

static struct sockaddr_in at(int port, const char *ip) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, ip, &address.sin_addr);
    return address;
}

static void set(int fd, int name, const void *value, socklen_t len) {
    NEED(setsockopt(fd, IPPROTO_SCTP, name, value, len) == 0);
}

static inline void set_int(int fd, int name, int value) { set(fd, name, &value, sizeof value); }

static int opened(int style) {
    int fd = socket(AF_INET, style, IPPROTO_SCTP);
    NEED(fd >= 0);
    return fd;
}

static int server(int style) {
    int fd = opened(style);
    struct sockaddr_in address = at(PORT, "127.0.0.1");
    NEED(bind(fd, (void *)&address, sizeof address) == 0);
    NEED(listen(fd, 9) == 0);
    return fd;
}

static void join(int fd) {
    struct sockaddr_in address = at(PORT, "127.0.0.1");
    NEED(connect(fd, (void *)&address, sizeof address) == 0);
}

static struct sctp_nxtinfo next_info;
static int last_flags, last_id;

/* Receives a message or notification. */
static inline ssize_t take(int fd, void *data, size_t len) {
    char control[512];
    struct iovec part = {data, len};
    struct msghdr message = {0, 0, &part, 1, control, sizeof control, 0};
    struct pollfd ready = {fd, POLLIN, 0};
    NEED(poll(&ready, 1, 5000) == 1);
    ssize_t got = recvmsg(fd, &message, 0);
    memset(&next_info, 0, sizeof next_info);
    last_flags = message.msg_flags;
    if (got < 0)
        return got;
    for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
        if (head->cmsg_type == SCTP_NXTINFO)
            memcpy(&next_info, CMSG_DATA(head), sizeof next_info);
        if (head->cmsg_type == SCTP_RCVINFO)
            last_id = ((struct sctp_rcvinfo *)CMSG_DATA(head))->rcv_assoc_id;
    }
    return got;
}

static inline void pause_ms(long ms) { poll(0, 0, ms); }

struct check {
    const char *name;
    void (*run)(void);
};

/* Runs the named check, or prints the names of all. */
static int run(int count, char **names, const struct check *checks, unsigned all) {
    for (unsigned n = 0; n < all; n++) {
        if (count < 2)
            puts(checks[n].name);
        else if (!strcmp(names[1], checks[n].name))
            return checks[n].run(), 0;
    }
    return count < 2 ? 0 : 2;
}
