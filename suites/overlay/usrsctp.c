/*
 * A program that sends or receives with usrsctp over UDP (RFC 6951): the peer of crates/io/tests/usrsctp, and a program that
 * `anabranch overlay` runs.
 *
 *   peer send CMT SECONDS LOCAL LOCAL REMOTE [AT]     connects, sends unordered messages for that long, and closes
 *   peer receive CMT LIMIT LOCAL LOCAL [FILE]         accepts one association and receives until it ends
 *
 * AT is the time of day, in seconds since 1970, at which it begins to send. FILE gets a line for each message: the time of
 * day and the bytes.
 * CMT is the value of the sysctl of that name (0: off, 1: on). The program ends when the association has ended, or
 * LIMIT_AFTER seconds after it should have. It prints one line of JSON.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <usrsctp.h>

enum { UDP_PORT = 9899, SCTP_PORT = 5001, MESSAGE = 1400, BUFFER = 4 << 20, LIMIT_AFTER = 20 };

static uint64_t bytes, messages, numbers;
static double first, last, begun;
static FILE *arrivals;

static double read_clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static double now(void) { return read_clock(CLOCK_MONOTONIC); }

static double time_of_day(void) { return read_clock(CLOCK_REALTIME); }

static void check(const char *what, int failed) {
    if (failed) {
        perror(what);
        _exit(1);
    }
}

/* Counts a message, whose first 8 bytes are its number in network byte order. */
static void count(const unsigned char *message, size_t length) {
    uint64_t number = 0;
    for (size_t i = 0; i < 8 && i < length; i++)
        number = number << 8 | message[i];
    last = now();
    if (messages++ == 0) {
        first = last;
        begun = time_of_day();
    }
    if (arrivals != NULL)
        fprintf(arrivals, "%.6f %zu\n", time_of_day(), length);
    bytes += length;
    numbers += number;
}

static struct sockaddr_in address(const char *text) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(SCTP_PORT)};
    check("address", inet_pton(AF_INET, text, &a.sin_addr) != 1);
    return a;
}

static struct socket *open_socket(char **locals) {
    struct socket *s = usrsctp_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
    check("socket", s == NULL);
    struct sockaddr_in both[2] = {address(locals[0]), address(locals[1])};
    check("bindx", usrsctp_bindx(s, (struct sockaddr *)both, 2, SCTP_BINDX_ADD_ADDR));
    int buffer = BUFFER;
    check("SO_SNDBUF", usrsctp_setsockopt(s, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer));
    check("SO_RCVBUF", usrsctp_setsockopt(s, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer));
    return s;
}

static void send_for(struct socket *s, double seconds) {
    unsigned char message[MESSAGE] = {0};
    struct sctp_sndinfo info = {.snd_flags = SCTP_UNORDERED};
    for (double start = now(); now() - start < seconds;) {
        for (int i = 0; i < 8; i++)
            message[i] = (unsigned char)(messages >> (56 - 8 * i));
        check("sendv", usrsctp_sendv(s, message, MESSAGE, NULL, 0, &info, sizeof info, SCTP_SENDV_SNDINFO, 0) < 0);
        count(message, MESSAGE);
    }
}

static void receive_all(struct socket *s) {
    static unsigned char message[1 << 16];
    for (;;) {
        struct sctp_rcvinfo info;
        socklen_t info_length = sizeof info;
        unsigned type = 0;
        int flags = 0;
        ssize_t n = usrsctp_recvv(s, message, sizeof message, NULL, NULL, &info, &info_length, &type, &flags);
        if (n <= 0)
            return;
        count(message, (size_t)n);
    }
}

/* The peer's addresses as a JSON list; srtt in ms. */
static void describe_paths(struct socket *s, char *text, size_t size) {
    struct sockaddr *all = NULL;
    int n = usrsctp_getpaddrs(s, 0, &all), used = 0;
    for (int i = 0; i < n; i++) {
        struct sctp_paddrinfo path = {0};
        socklen_t length = sizeof path;
        struct sockaddr_in *a = (struct sockaddr_in *)all + i;
        memcpy(&path.spinfo_address, a, sizeof *a);
        if (usrsctp_getsockopt(s, IPPROTO_SCTP, SCTP_GET_PEER_ADDR_INFO, &path, &length) == 0)
            used += snprintf(text + used, size - used,
                             "%s{\"address\":\"%s\",\"active\":%s,\"cwnd\":%u,\"srtt\":%u,\"rto\":%u,\"mtu\":%u}",
                             used ? "," : "", inet_ntoa(a->sin_addr), path.spinfo_state & SCTP_ACTIVE ? "true" : "false",
                             path.spinfo_cwnd, path.spinfo_srtt, path.spinfo_rto, path.spinfo_mtu);
    }
    if (n > 0)
        usrsctp_freepaddrs(all);
}

/* Waits until the association has ended, and says whether it ended gracefully. */
static int ended_gracefully(void) {
    struct sctpstat stat;
    for (double start = now(); now() - start < LIMIT_AFTER; usleep(5000)) {
        usrsctp_get_stat(&stat);
        if (stat.sctps_shutdown + stat.sctps_aborted > 0)
            break;
    }
    return stat.sctps_shutdown == 1 && stat.sctps_aborted == 0;
}

int main(int argc, char **argv) {
    check("usage", argc < 6);
    int sending = strcmp(argv[1], "send") == 0;
    double seconds = atof(argv[3]);
    alarm((unsigned)seconds + 2 * LIMIT_AFTER);
    usrsctp_init(UDP_PORT, NULL, NULL);
    usrsctp_sysctl_set_sctp_cmt_on_off((uint32_t)atoi(argv[2]));
    usrsctp_sysctl_set_sctp_no_csum_on_loopback(0);
    usrsctp_sysctl_set_sctp_ecn_enable(0);
    usrsctp_sysctl_set_sctp_pktdrop_enable(0);
    usrsctp_sysctl_set_sctp_nrsack_enable(0);
    struct socket *listener = NULL, *s = open_socket(argv + 4);
    char paths[1000] = "";
    if (sending) {
        struct sockaddr_in remote = address(argv[6]);
        struct sctp_udpencaps port = {.sue_address.ss_family = AF_INET, .sue_port = htons(UDP_PORT)};
        check("encapsulation", usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_REMOTE_UDP_ENCAPS_PORT, &port, sizeof port));
        check("connect", usrsctp_connect(s, (struct sockaddr *)&remote, sizeof remote));
        while (argc > 7 && time_of_day() < atof(argv[7]))
            usleep(500);
        send_for(s, seconds);
        describe_paths(s, paths, sizeof paths);
        usrsctp_shutdown(s, SHUT_WR);
    } else {
        if (argc > 6)
            check("file", (arrivals = fopen(argv[6], "w")) == NULL);
        listener = s;
        check("listen", usrsctp_listen(listener, 1));
        puts("listening");
        fflush(stdout);
        s = usrsctp_accept(listener, NULL, NULL);
        check("accept", s == NULL);
        receive_all(s);
        check("file", arrivals != NULL && fclose(arrivals) != 0);
        describe_paths(s, paths, sizeof paths);
    }
    int graceful = ended_gracefully();
    double end = now();
    struct sctpstat stat;
    usrsctp_get_stat(&stat);
    printf("{\"begun\":%.6f,\"bytes\":%llu,\"messages\":%llu,\"numbers\":%llu,\"seconds\":%.3f,\"graceful\":%s,\"bad_checksums\":%u,"
           "\"duplicates\":%u,\"retransmitted\":%u,\"timeouts\":%u,\"paths\":[%s]}\n",
           begun, (unsigned long long)bytes, (unsigned long long)messages, (unsigned long long)numbers,
           (sending ? end : last) - first, graceful ? "true" : "false", stat.sctps_badsum, stat.sctps_recvdupdata,
           stat.sctps_sendretransdata, stat.sctps_timodata, paths);
    fflush(stdout);
    usrsctp_close(s);
    if (listener != NULL)
        usrsctp_close(listener);
    while (usrsctp_finish() != 0)
        usleep(10000);
    return 0;
}
