/* Socket calls in states in which they fail, and of programs with many buffers or children. */
#include "sockets.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/uio.h>
#include <sys/wait.h>

/* A socket without an association sends and receives nothing, and can connect afterwards. */
static void unconnected(void) {
    int fd = opened(SOCK_STREAM), many = opened(SOCK_SEQPACKET), listener = server(SOCK_STREAM), waiting = 0;
    struct sockaddr_in name;
    socklen_t len = sizeof name;
    char data[8];
    FAILS(recv(fd, data, sizeof data, 0), ENOTCONN);
    FAILS(recv(listener, data, sizeof data, 0), ENOTCONN);
    FAILS(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
    FAILS(send(listener, "x", 1, MSG_NOSIGNAL), EPIPE);
    name = at(PORT + 1, "127.0.0.1");
    FAILS(sendto(listener, "x", 1, MSG_NOSIGNAL, (void *)&name, sizeof name), EPIPE);
    FAILS(send(many, "x", 1, MSG_NOSIGNAL), EPIPE);
    FAILS(shutdown(fd, SHUT_WR), ENOTCONN);
    FAILS(shutdown(many, SHUT_RDWR), ENOTCONN);
    FAILS(accept(fd, 0, 0), EINVAL);
    FAILS(accept(many, 0, 0), EOPNOTSUPP);
    FAILS(getpeername(fd, (void *)&name, &len), ENOTCONN);
    FAILS(getpeername(many, (void *)&name, &len), ENOTCONN);
    FAILS(getsockopt(fd, IPPROTO_SCTP, SCTP_AUTOCLOSE + 1000, &waiting, &len), ENOPROTOOPT);
    join(fd);
    int accepted = accept(listener, 0, 0);
    NEED(accepted >= 0);
    NEED(send(fd, "y", 1, 0) == 1 && take(accepted, data, sizeof data) == 1 && data[0] == 'y');
    struct sockaddr_in to = at(PORT, "127.0.0.1");
    FAILS(connect(fd, (void *)&to, sizeof to), EISCONN);
    FAILS(listen(fd, 5), EINVAL);
    FAILS(bind(fd, (void *)&to, sizeof to), EINVAL);

    /* The association begins with a message that names its address, of another process with the socket. */
    int second = opened(SOCK_STREAM);
    if (fork() == 0) {
        NEED(sendto(second, "z", 1, 0, (void *)&to, sizeof to) == 1);
        _exit(0);
    }
    NEED((accepted = accept(listener, 0, 0)) >= 0);
    NEED(take(accepted, data, sizeof data) == 1 && data[0] == 'z');
    /* As with TCP, it ends the calls that wait in accept. */
    if (ours_only()) {
        NEED(shutdown(listener, SHUT_RDWR) == 0);
        FAILS(accept(listener, 0, 0), EINVAL);
    }
    NEED(send(accepted, "back", 4, 0) == 4 && recv(second, data, sizeof data, 0) == 4);
    NEED(send(second, "w", 1, 0) == 1 && take(accepted, data, sizeof data) == 1 && data[0] == 'w');
}

/* A socket whose association has ended still has addresses and options, but no association. */
static void ended(void) {
    int client = opened(SOCK_STREAM), listener = opened(SOCK_STREAM), accepted, value = 0;
    struct sockaddr_in name, peer, any = at(PORT, "0.0.0.0"), to = at(PORT, "127.0.0.1");
    struct sctp_status status = {0};
    struct linger linger = {1, 3};
    socklen_t len = sizeof name;
    char data[8];
    NEED(bind(listener, (void *)&any, sizeof any) == 0 && listen(listener, 5) == 0);
    join(client);
    NEED((accepted = accept(listener, (void *)&peer, &len)) >= 0);
    close(client);
    NEED(take(accepted, data, sizeof data) == 0);
    for (int turn = 0; turn < 2; turn++) {
        NEED(getsockname(accepted, (void *)&name, &len) == 0 && !memcmp(&name, &to, sizeof to));
        memset(&name, 0, sizeof name);
        NEED(getpeername(accepted, (void *)&name, &len) == 0 && !memcmp(&name, &peer, sizeof peer));
        set_int(accepted, SCTP_NODELAY, 1);
        len = sizeof value;
        NEED(getsockopt(accepted, IPPROTO_SCTP, SCTP_NODELAY, &value, &len) == 0 && value == 1);
        len = sizeof status;
        FAILS(getsockopt(accepted, IPPROTO_SCTP, SCTP_STATUS, &status, &len), EINVAL);
        FAILS(connect(accepted, (void *)&to, sizeof to), EISCONN);
        FAILS(send(accepted, "x", 1, MSG_NOSIGNAL), EPIPE);
        NEED(recv(accepted, data, sizeof data, 0) == 0);
        NEED(setsockopt(accepted, SOL_SOCKET, SO_LINGER, &linger, sizeof linger) == 0);
        len = sizeof name;
    }
    NEED(close(accepted) == 0);
}

/* Waits until an association can be accepted, and returns its socket. */
static int any(const int *listeners, int count) {
    struct pollfd ready[3];
    for (int n = 0; n < count; n++)
        ready[n] = (struct pollfd){listeners[n], POLLIN, 0};
    NEED(poll(ready, count, 5000) > 0);
    while (!ready[--count].revents)
        ;
    return listeners[count];
}

/* With SO_REUSEPORT several sockets listen at a port. Peers reach ours in turn. */
static void shared(void) {
    enum { LISTENERS = 3, PEERS = 6 };
    struct sockaddr_in address = at(PORT, "127.0.0.1");
    int listeners[LISTENERS], on = 1, other = opened(SOCK_STREAM);
    for (int n = 0; n < LISTENERS; n++) {
        listeners[n] = opened(SOCK_STREAM);
        NEED(setsockopt(listeners[n], SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0);
        NEED(bind(listeners[n], (void *)&address, sizeof address) == 0 && listen(listeners[n], 5) == 0);
    }
    FAILS(bind(other, (void *)&address, sizeof address), EADDRINUSE);
    for (int n = 0; n < PEERS; n++)
        join(opened(SOCK_STREAM));
    for (int n = 0; n < PEERS; n++)
        NEED(accept(!ours_only() ? any(listeners, LISTENERS) : listeners[n % LISTENERS], 0, 0) >= 0);
    /* One that has closed gets no more. */
    close(listeners[0]);
    for (int n = 0; n < 2; n++)
        join(opened(SOCK_STREAM));
    for (int n = 1; n < LISTENERS; n++)
        NEED(accept(!ours_only() ? any(listeners + 1, LISTENERS - 1) : listeners[n], 0, 0) >= 0);
}

/* Errors of bind and connect. */
static void names(void) {
    int fd = opened(SOCK_STREAM), listener = server(SOCK_STREAM), value = 0;
    struct sockaddr_in address = at(PORT, "127.0.0.1"), foreign = at(PORT, "192.0.2.1");
    FAILS(bind(fd, (void *)&address, sizeof address), EADDRINUSE);
    FAILS(bind(fd, (void *)&foreign, sizeof foreign), EADDRNOTAVAIL);
    FAILS(bind(fd, (void *)&address, 7), EINVAL);
    FAILS(connect(fd, (void *)&address, 7), EINVAL);
    static const struct {
        int name, value;
    } known[] = {{SO_TYPE, SOCK_STREAM}, {SO_DOMAIN, AF_INET}, {SO_PROTOCOL, IPPROTO_SCTP}, {SO_ACCEPTCONN, 1}};
    for (unsigned n = 0; n < sizeof known / sizeof *known; n++) {
        socklen_t len = sizeof value;
        NEED(getsockopt(listener, SOL_SOCKET, known[n].name, &value, &len) == 0 && value == known[n].value);
    }
    /* A receive waits for the time of SO_RCVTIMEO. */
    struct timeval limit = {.tv_usec = 100000};
    NEED(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    join(fd);
    FAILS(recv(fd, &value, sizeof value, 0), EAGAIN);
    /* Too little room for the addresses of the peer. */
    socklen_t len = 10;
    char small[10] = {0};
    FAILS(getsockopt(fd, IPPROTO_SCTP, SCTP_GET_PEER_ADDRS, small, &len), ENOMEM);
}

/* Connect and bind use the address alone, however long the buffer is, and a call that succeeds leaves errno alone. */
static void storage(void) {
    static const int families[] = {AF_INET, AF_INET6};
    for (int n = 0; n < 2; n++) {
        int client = socket(families[n], SOCK_STREAM, IPPROTO_SCTP), listener;
        struct sockaddr_storage address = {0};
        char data[8];
        struct sockaddr_in to = at(PORT + n, "127.0.0.1");
        if (families[n] == AF_INET)
            memcpy(&address, &to, sizeof to);
        else
            *(struct sockaddr_in6 *)&address = (struct sockaddr_in6){
                .sin6_family = AF_INET6, .sin6_port = to.sin_port, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
        memset((char *)&address + 28, 0xee, 50);
        NEED(client >= 0 && (listener = socket(families[n], SOCK_STREAM, IPPROTO_SCTP)) >= 0);
        NEED(bind(listener, (void *)&address, sizeof address) == 0 && listen(listener, 5) == 0);
        NEED(connect(client, (void *)&address, sizeof address) == 0);
        int accepted = accept(listener, 0, 0);
        NEED(accepted >= 0);
        errno = 0;
        NEED(send(client, "x", 1, 0) == 1 && recv(accepted, data, sizeof data, 0) == 1);
        NEED(close(client) == 0 && recv(accepted, data, sizeof data, 0) == 0);
        NEED(errno == 0);
    }
}

/* A child of vfork closes and replaces descriptors before exec. Its parent still has its sockets. */
static void children(void) {
    int client = opened(SOCK_STREAM), listener = server(SOCK_STREAM), accepted, status;
    char data[8];
    join(client);
    NEED((accepted = accept(listener, 0, 0)) >= 0);
    int child = vfork();
    if (child == 0) {
        dup2(listener, 0);
        close(client);
        close(accepted);
        execlp("true", "true", NULL);
        _exit(1);
    }
    NEED(waitpid(child, &status, 0) == child && status == 0);
    NEED(send(client, "x", 1, 0) == 1 && take(accepted, data, sizeof data) == 1 && data[0] == 'x');
}

/* What a program writes by stdio or splice, past the preloaded library, arrives. */
static void past(void) {
    int client = opened(SOCK_STREAM), listener = server(SOCK_STREAM), accepted, ends[2];
    char data[16];
    join(client);
    NEED((accepted = accept(listener, 0, 0)) >= 0);
    if (fork() == 0) {
        dup2(client, 1);
        execlp("echo", "echo", "hello", NULL);
        _exit(1);
    }
    NEED(take(accepted, data, sizeof data) == 6 && !memcmp(data, "hello\n", 6) && (last_flags & MSG_EOR));
    NEED(pipe(ends) == 0 && write(ends[1], "spliced", 7) == 7);
    NEED(splice(ends[0], NULL, client, NULL, 7, 0) == 7);
    NEED(take(accepted, data, sizeof data) == 7 && !memcmp(data, "spliced", 7));
}

/* A message of as many buffers as Linux allows is one message. */
static void buffers(void) {
    enum { BUFFERS = 1024, LENGTH = 300 };
    static char data[BUFFERS][LENGTH], got[BUFFERS * LENGTH + 1];
    static struct iovec parts[BUFFERS + 1];
    int client = opened(SOCK_STREAM), listener = server(SOCK_STREAM), accepted, room = 1 << 20;
    NEED(setsockopt(client, SOL_SOCKET, SO_SNDBUF, &room, sizeof room) == 0);
    join(client);
    NEED((accepted = accept(listener, 0, 0)) >= 0);
    for (int n = 0; n < BUFFERS; n++) {
        memset(data[n], n % 251, LENGTH);
        parts[n] = (struct iovec){data[n], LENGTH};
    }
    static const int counts[] = {62, 63, 200, BUFFERS};
    for (unsigned n = 0; n < sizeof counts / sizeof *counts; n++) {
        ssize_t all = counts[n] * LENGTH;
        NEED(writev(client, parts, counts[n]) == all);
        for (ssize_t at = 0; at < all;) {
            ssize_t len = take(accepted, got + at, sizeof got - at);
            NEED(len > 0);
            at += len;
            NEED(!(last_flags & MSG_EOR) == (at < all));
        }
        NEED(!memcmp(got, data, all));
    }
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = BUFFERS + 1};
    FAILS(sendmsg(client, &message, 0), EMSGSIZE);
}

/* The first message of an association travels with its COOKIE ECHO, and is not sent again. */
static void first(void) {
    int listener = server(SOCK_SEQPACKET), many = opened(SOCK_SEQPACKET);
    struct sockaddr_in to = at(PORT, "127.0.0.1");
    struct sctp_sack_info at_once = {.sack_freq = 1};
    struct {
        unsigned count;
        sctp_assoc_t ids[4];
    } all = {0};
    struct sctp_assoc_stats stats = {0};
    socklen_t len = sizeof all;
    char data[8];
    set(listener, SCTP_DELAYED_SACK, &at_once, sizeof at_once);
    NEED(sendto(many, "x", 1, 0, (void *)&to, sizeof to) == 1);
    NEED(take(listener, data, sizeof data) == 1);
    NEED(getsockopt(many, IPPROTO_SCTP, SCTP_GET_ASSOC_ID_LIST, &all, &len) == 0 && all.count == 1 && len == 8);
    pause_ms(300);
    stats.sas_assoc_id = all.ids[0];
    len = sizeof stats;
    NEED(getsockopt(many, IPPROTO_SCTP, SCTP_GET_ASSOC_STATS, &stats, &len) == 0);
    NEED(stats.sas_oodchunks == 1 && stats.sas_rtxchunks == 0);
}

static void is_of(int fd, int peer, int family) {
    struct sockaddr_in6 name = {0};
    socklen_t len = sizeof name;
    int (*call)(int, struct sockaddr *, socklen_t *) = peer ? getpeername : getsockname;
    NEED(call(fd, (void *)&name, &len) == 0 && name.sin6_family == family);
    NEED(len == (family == AF_INET ? sizeof(struct sockaddr_in) : sizeof name));
}

/* An IPv6 socket gets IPv4 addresses as IPv4-mapped ones, or with SCTP_I_WANT_MAPPED_V4_ADDR off as they are. */
static void mapped(void) {
    int listener = socket(AF_INET6, SOCK_STREAM, IPPROTO_SCTP);
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(PORT)}, from;
    char data[8];
    NEED(listener >= 0 && bind(listener, (void *)&any, sizeof any) == 0 && listen(listener, 5) == 0);
    set_int(listener, SCTP_I_WANT_MAPPED_V4_ADDR, 0);
    is_of(listener, 0, AF_INET6);
    for (int on = 1; on >= 0; on--) {
        int family = on ? AF_INET6 : AF_INET, client = opened(SOCK_STREAM);
        socklen_t len = sizeof from;
        set_int(listener, SCTP_I_WANT_MAPPED_V4_ADDR, on);
        join(client);
        int accepted = accept(listener, (void *)&from, &len);
        NEED(accepted >= 0 && from.sin6_family == family);
        is_of(accepted, 1, family);
        is_of(accepted, 0, family);
        NEED(send(client, "x", 1, 0) == 1);
        len = sizeof from;
        NEED(recvfrom(accepted, data, sizeof data, 0, (void *)&from, &len) == 1 && from.sin6_family == family);
        char value[512] = {0};
        len = sizeof value;
        NEED(getsockopt(accepted, IPPROTO_SCTP, SCTP_GET_PEER_ADDRS, value, &len) == 0);
        NEED(((struct sockaddr *)((struct sctp_getaddrs *)value)->addrs)->sa_family == family);
    }
}

int main(int count, char **names_of_checks) {
    static const struct check checks[] = {{"unconnected", unconnected}, {"names", names}, {"children", children},
                                          {"buffers", buffers},         {"first", first}, {"mapped", mapped},
                                          {"storage", storage},         {"past", past},   {"ended", ended},
                                          {"shared", shared}};
    return run(count, names_of_checks, checks, sizeof checks / sizeof *checks);
}
