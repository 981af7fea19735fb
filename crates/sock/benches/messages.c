/* One process sends messages of 1 KiB to another: by SCTP over loopback, a pair of AF_UNIX, or UDP over
 * loopback. Prints messages a second, and CPU microseconds a message of sender and receiver.
 *
 *   messages sctp|unix|udp COUNT BUFFER PORT     BUFFER: bytes of the receiver's buffer, at least 1024
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 1024 };

static void must(int good, const char *what) {
    if (!good) {
        perror(what);
        exit(1);
    }
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static double used(int who) {
    struct rusage usage;
    getrusage(who, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static struct sockaddr_in address = {.sin_family = AF_INET};
static socklen_t len = sizeof address;

/* A socket bound to the address. */
static int opened(int udp) {
    int fd = socket(AF_INET, udp ? SOCK_DGRAM : SOCK_STREAM, udp ? 0 : IPPROTO_SCTP);
    must(fd >= 0 && !bind(fd, (struct sockaddr *)&address, len), "socket");
    must(!getsockname(fd, (struct sockaddr *)&address, &len), "name");
    must(udp || !listen(fd, 1), "listen");
    return fd;
}

static void send_all(int fd, int udp, long count) {
    static char message[SIZE];
    if (fd < 0) {
        fd = socket(AF_INET, udp ? SOCK_DGRAM : SOCK_STREAM, udp ? 0 : IPPROTO_SCTP);
        must(fd >= 0 && !connect(fd, (struct sockaddr *)&address, len), "connect");
    }
    for (long n = 0; n < count; n++)
        must(send(fd, message, SIZE, 0) == SIZE, "send");
    exit(0);
}

int main(int argc, char **argv) {
    must(argc == 5, "arguments");
    int udp = !strcmp(argv[1], "udp"), unix_pair = !strcmp(argv[1], "unix"), pair[2] = {-1, -1}, ready[2];
    long count = atol(argv[2]), got = 0;
    size_t room = atol(argv[3]);
    char *buffer = malloc(room);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(udp ? 0 : atoi(argv[4]));
    must(!unix_pair || !socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), "socketpair");
    must(!pipe(ready), "pipe");
    if (!fork()) {
        close(pair[0]);
        must(read(ready[0], &address, len) == (ssize_t)len, "the receiver");
        send_all(pair[1], udp, count);
    }
    close(pair[1]);
    int fd = unix_pair ? pair[0] : opened(udp);
    must(write(ready[1], &address, len) == (ssize_t)len, "the sender");
    if (!unix_pair && !udp)
        must((fd = accept(fd, NULL, NULL)) >= 0, "accept");
    /* UDP drops what the receiver has no room for. */
    struct timeval limit = {.tv_sec = 1};
    if (udp)
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    double begin = 0, last = 0, before = used(RUSAGE_SELF);
    while (got < count) {
        ssize_t received = recv(fd, buffer, room, 0);
        if (received <= 0)
            break;
        must(received == SIZE, "a whole message");
        last = now();
        if (!got++)
            begin = last;
    }
    double mine = used(RUSAGE_SELF) - before;
    wait(NULL);
    printf("%.0f %.3f %.3f\n", (got - 1) / (last - begin), used(RUSAGE_CHILDREN) * 1e6 / count, mine * 1e6 / got);
    return got == count || udp ? 0 : 1;
}
