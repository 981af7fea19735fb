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
#include <time.h>
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

/* True with our library, false with the SCTP of Linux, which has no option for CMT (0x1200). docs/programs.md names
 * the differences that checks keep by it. */
static inline int ours_only(void) {
    static int known = -1;
    if (known < 0) {
        struct sctp_assoc_value cmt = {0};
        socklen_t len = sizeof cmt;
        int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP);
        known = getsockopt(fd, IPPROTO_SCTP, 0x1200, &cmt, &len) == 0;
        close(fd);
    }
    return known;
}

/* The buffers of Linux are too small for some checks, and a message must fit into its send buffer. */
static int opened(int style) {
    int fd = socket(AF_INET, style, IPPROTO_SCTP), size = 8000000;
    NEED(fd >= 0);
    if (!ours_only()) {
        NEED(setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) == 0);
        NEED(setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) == 0);
    }
    return fd;
}

static int server(int style) {
    int fd = opened(style), on = 1;
    struct sockaddr_in address = at(PORT, "127.0.0.1");
    /* In Linux, accepted sockets keep the port of a closed listener without it. */
    NEED(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0);
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

static inline void events(int fd) {
    unsigned char all[14];
    memset(all, 1, sizeof all);
    set(fd, SCTP_EVENTS, all, sizeof all);
}

/* Sends a message with SCTP_SNDINFO; `to` may be null. */
static inline ssize_t post_with(int fd, const void *data, size_t len, struct sctp_sndinfo info,
                         struct sockaddr_in *to) {
    char control[CMSG_SPACE(sizeof info)] = {0};
    struct iovec part = {(void *)data, len};
    struct msghdr message = {to, to ? sizeof *to : 0, &part, 1, control, sizeof control, 0};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = IPPROTO_SCTP;
    head->cmsg_type = SCTP_SNDINFO;
    head->cmsg_len = CMSG_LEN(sizeof info);
    memcpy(CMSG_DATA(head), &info, sizeof info);
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}

static inline ssize_t post(int fd, const void *data, size_t len, int stream, int id, struct sockaddr_in *to) {
    return post_with(fd, data, len, (struct sctp_sndinfo){.snd_sid = stream, .snd_assoc_id = id}, to);
}

/* Waits for a notification of this type, or SCTP_ASSOC_CHANGE with this state. */
static inline void told(int fd, int type, int state) {
    union sctp_notification what;
    do
        NEED(take(fd, &what, sizeof what) > 0);
    while (!(last_flags & MSG_NOTIFICATION) || what.sn_header.sn_type != type ||
           (state >= 0 && what.sn_assoc_change.sac_state != state));
    last_id = type == SCTP_ASSOC_CHANGE ? what.sn_assoc_change.sac_assoc_id : last_id;
}

static inline void pair_up(int *client, int *accepted) {
    int listener = server(SOCK_STREAM);
    *client = *client >= 0 ? *client : opened(SOCK_STREAM);
    join(*client);
    NEED((*accepted = accept(listener, 0, 0)) >= 0);
    close(listener);
}

static inline double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static inline void pause_ms(long ms) { poll(0, 0, ms); }

struct check {
    const char *name;
    void (*run)(void);
};

/* Runs the named check, or prints the names of all. The host process uses UDP encapsulation, and so does Linux here. */
static inline int run(int count, char **names, const struct check *checks, unsigned all) {
    if (count > 1 && !ours_only())
        NEED(system("cd /proc/sys/net/sctp && echo 9899 > encap_port && echo 9899 > udp_port") == 0);
    for (unsigned n = 0; n < all; n++) {
        if (count < 2)
            puts(checks[n].name);
        else if (!strcmp(names[1], checks[n].name))
            return checks[n].run(), 0;
    }
    return count < 2 ? 0 : 2;
}
