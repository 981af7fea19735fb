/*
 * The two ends of a run with usrsctp over UDP on loopback, for the bench.
 *
 *   usrsctp receive            prints "ready", then bytes, CPU seconds and real seconds
 *   usrsctp send X SECONDS     sends messages of 64 KiB for that long; prints CPU seconds and "NaN"
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <usrsctp.h>

enum { RECEIVER_UDP = 19899, SENDER_UDP = 19898, PORT = 5001, MESSAGE = 1 << 16, BUFFER = 4 << 20 };

static unsigned char message[MESSAGE];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static double cpu(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void check(const char *what, int failed) {
    if (failed) {
        perror(what);
        _exit(1);
    }
}

static struct sockaddr_in loopback(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static struct socket *open_socket(void) {
    struct socket *s = usrsctp_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
    check("socket", s == NULL);
    int buffer = BUFFER;
    check("SO_SNDBUF", usrsctp_setsockopt(s, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer));
    check("SO_RCVBUF", usrsctp_setsockopt(s, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer));
    return s;
}

static void receive(void) {
    struct sockaddr_in here = loopback();
    struct socket *listener = open_socket();
    check("bind", usrsctp_bind(listener, (struct sockaddr *)&here, sizeof here));
    check("listen", usrsctp_listen(listener, 1));
    puts("ready");
    fflush(stdout);
    double before = cpu(), first = 0;
    struct socket *s = usrsctp_accept(listener, NULL, NULL);
    check("accept", s == NULL);
    for (uint64_t bytes = 0;;) {
        struct sctp_rcvinfo info;
        socklen_t length = sizeof info;
        unsigned type = 0;
        int flags = 0;
        ssize_t n = usrsctp_recvv(s, message, sizeof message, NULL, NULL, &info, &length, &type, &flags);
        if (n <= 0) {
            printf("%llu %f %f\n", (unsigned long long)bytes, cpu() - before, now() - first);
            return;
        }
        if (bytes == 0)
            first = now();
        bytes += (uint64_t)n;
    }
}

static void send_for(double seconds) {
    struct sockaddr_in there = loopback();
    struct socket *s = open_socket();
    struct sctp_udpencaps port = {.sue_address.ss_family = AF_INET, .sue_port = htons(RECEIVER_UDP)};
    check("encapsulation", usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_REMOTE_UDP_ENCAPS_PORT, &port, sizeof port));
    check("connect", usrsctp_connect(s, (struct sockaddr *)&there, sizeof there));
    for (size_t i = 0; i < sizeof message; i++)
        message[i] = (unsigned char)(i * 2654435761u >> 13);
    double before = cpu();
    for (double start = now(); now() - start < seconds;)
        check("send", usrsctp_sendv(s, message, sizeof message, NULL, 0, NULL, 0, SCTP_SENDV_NOINFO, 0) < 0);
    usrsctp_shutdown(s, SHUT_WR);
    struct sctpstat stat;
    do {
        usleep(5000);
        usrsctp_get_stat(&stat);
    } while (stat.sctps_shutdown + stat.sctps_aborted == 0);
    printf("%f NaN\n", cpu() - before);
}

int main(int argc, char **argv) {
    int sending = argc == 4 && strcmp(argv[1], "send") == 0;
    alarm(120);
    usrsctp_init(sending ? SENDER_UDP : RECEIVER_UDP, NULL, NULL);
    usrsctp_sysctl_set_sctp_no_csum_on_loopback(0);
    usrsctp_sysctl_set_sctp_ecn_enable(0);
    if (sending)
        send_for(atof(argv[3]));
    else
        receive();
    fflush(stdout);
    _exit(0); /* usrsctp_finish can take seconds, and its CPU time is not of the transfer */
}
