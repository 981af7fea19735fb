/* SCTP sockets as Linux has them (RFC 6458). */
#include "sockets.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void streams(void) {
    struct sctp_initmsg init = {.sinit_num_ostreams = 3};
    int client = opened(SOCK_STREAM), accepted;
    char data[8];
    set(client, SCTP_INITMSG, &init, sizeof init);
    pair_up(&client, &accepted);
    NEED(post(client, "a", 1, 2, 0, 0) == 1);
    FAILS(post(client, "b", 1, 3, 0, 0), EINVAL);
    FAILS(post(client, "b", 1, 65535, 0, 0), EINVAL);
    NEED(take(accepted, data, 8) == 1 && data[0] == 'a');
    struct sctp_sndinfo usual = {.snd_sid = 7};
    set(client, SCTP_DEFAULT_SNDINFO, &usual, sizeof usual);
    FAILS(send(client, "c", 1, 0), EINVAL);

    int many = opened(SOCK_SEQPACKET);
    int listener = server(SOCK_SEQPACKET);
    struct sockaddr_in to = at(PORT, "127.0.0.1");
    set(many, SCTP_INITMSG, &init, sizeof init);
    FAILS(post(many, "d", 1, 3, 0, &to), EINVAL);
    FAILS(post(many, "d", 1, 0, 77, 0), EPIPE);
    NEED(post(many, "d", 1, 2, 0, &to) == 1);
    NEED(take(listener, data, 8) == 1 && data[0] == 'd');
}

static void unread(void) {
    int client = -1, accepted;
    char data[8];
    pair_up(&client, &accepted);
    NEED(send(client, "x", 1, 0) == 1);
    pause_ms(300);
    NEED(close(accepted) == 0);
    FAILS(take(client, data, 8), ECONNRESET);

    /* A process ends before it has read the last byte of a message. */
    client = -1;
    pair_up(&client, &accepted);
    NEED(send(client, "xyz", 3, 0) == 3);
    if (fork() == 0) {
        NEED(recv(accepted, data, 2, 0) == 2);
        _exit(0);
    }
    close(accepted);
    FAILS(take(client, data, 8), ECONNRESET);

    /* Unread notifications do not count as unread data. */
    client = opened(SOCK_STREAM);
    events(client);
    pair_up(&client, &accepted);
    pause_ms(300);
    NEED(send(client, "x", 1, 0) == 1);
    close(client);
    NEED(take(accepted, data, 8) == 1);
    NEED(take(accepted, data, 8) == 0);
}

static int local_addresses(int fd) {
    char value[512] = {0};
    socklen_t len = sizeof value;
    NEED(getsockopt(fd, IPPROTO_SCTP, SCTP_GET_LOCAL_ADDRS, value, &len) == 0);
    return ((struct sctp_getaddrs *)value)->addr_num;
}

static void bindx(void) {
    int fd = opened(SOCK_STREAM);
    struct sockaddr_in both[2] = {at(PORT, "127.0.0.1"), at(PORT, "127.0.0.2")}, other = at(PORT, "127.0.0.3");
    FAILS(setsockopt(fd, IPPROTO_SCTP, SCTP_SOCKOPT_BINDX_REM, both, sizeof both[0]), EBUSY);
    set(fd, SCTP_SOCKOPT_BINDX_ADD, both, sizeof both);
    NEED(local_addresses(fd) == 2);
    FAILS(setsockopt(fd, IPPROTO_SCTP, SCTP_SOCKOPT_BINDX_REM, &other, sizeof other), EINVAL);
    other.sin_port = htons(PORT + 1);
    FAILS(setsockopt(fd, IPPROTO_SCTP, SCTP_SOCKOPT_BINDX_ADD, &other, sizeof other), EINVAL);
    set(fd, SCTP_SOCKOPT_BINDX_REM, &both[1], sizeof both[1]);
    NEED(local_addresses(fd) == 1);
    FAILS(setsockopt(fd, IPPROTO_SCTP, SCTP_SOCKOPT_BINDX_REM, both, sizeof both[0]), EBUSY);
    NEED(listen(fd, 5) == 0);
    /* One address was removed: the association has the other one. */
    int client = opened(SOCK_STREAM);
    join(client);
    char value[512] = {0};
    socklen_t len = sizeof value;
    NEED(getsockopt(client, IPPROTO_SCTP, SCTP_GET_PEER_ADDRS, value, &len) == 0);
    NEED(((struct sctp_getaddrs *)value)->addr_num == 1);
}

static void nxtinfo(void) {
    int client = -1, accepted;
    char data[64];
    pair_up(&client, &accepted);
    set_int(accepted, SCTP_RECVNXTINFO, 1);
    NEED(post(client, "first", 5, 0, 0, 0) == 5);
    NEED(post(client, "second", 6, 3, 0, 0) == 6);
    pause_ms(200);
    NEED(take(accepted, data, 3) == 3 && next_info.nxt_length == (ours_only() ? 0 : 6));
    NEED(take(accepted, data, 64) == 2);
    NEED(next_info.nxt_sid == 3 && next_info.nxt_length == 6 && next_info.nxt_flags == 0);
    NEED(take(accepted, data, 64) == 6 && !memcmp(data, "second", 6) && next_info.nxt_length == 0);
}

static struct sctp_assoc_stats counters(int fd) {
    struct sctp_assoc_stats stats = {0};
    socklen_t len = sizeof stats;
    NEED(getsockopt(fd, IPPROTO_SCTP, SCTP_GET_ASSOC_STATS, &stats, &len) == 0 && len == sizeof stats);
    return stats;
}

static void fragments(void) {
    int client = opened(SOCK_STREAM), accepted;
    char data[5000] = {0};
    struct sctp_assoc_value most = {.assoc_value = 600};
    socklen_t len = sizeof most;
    set(client, SCTP_MAXSEG, &most, sizeof most);
    most.assoc_value = 0;
    NEED(getsockopt(client, IPPROTO_SCTP, SCTP_MAXSEG, &most, &len) == 0 && most.assoc_value == 600);
    pair_up(&client, &accepted);
    struct sctp_assoc_stats before = counters(client);
    NEED(send(client, data, 2400, 0) == 2400);
    NEED(take(accepted, data, sizeof data) == 2400 && (last_flags & MSG_EOR));
    struct sctp_assoc_stats after = counters(client);
    NEED(after.sas_oodchunks - before.sas_oodchunks >= 4);
    NEED(after.sas_opackets - before.sas_opackets >= (ours_only() ? 4 : 1)); /* packets of Linux have 64 KiB here */
    NEED(counters(accepted).sas_iodchunks >= 4 && after.sas_maxrto > 0);
    set_int(client, SCTP_DISABLE_FRAGMENTS, 1);
    FAILS(send(client, data, 601, 0), EMSGSIZE);
    NEED(send(client, data, 600, 0) == 600);
    set_int(client, SCTP_DISABLE_FRAGMENTS, 0);
    NEED(send(client, data, 5000, 0) == 5000);
    unsigned point = 1 << 30;
    FAILS(setsockopt(client, IPPROTO_SCTP, SCTP_PARTIAL_DELIVERY_POINT, &point, sizeof point), EINVAL);
}

/* A message that takes several records is one message. */
static void large(void) {
    int client = -1, accepted;
    static char data[300000], got[400000];
    for (unsigned n = 0; n < sizeof data; n++)
        data[n] = n * n >> 7;
    pair_up(&client, &accepted);
    NEED(send(client, data, sizeof data, 0) == sizeof data);
    pause_ms(1000);
    NEED(take(accepted, got, sizeof got) == sizeof data && (last_flags & MSG_EOR));
    NEED(!memcmp(data, got, sizeof data));
}

static void linger(void) {
    int client = -1, accepted;
    static char data[4 << 20];
    struct linger on = {1, 8};
    /* More than the buffers of the receiver. Linux sends about 50 kB in a second once its receiver's are full. */
    int listener = server(SOCK_STREAM), small = 100000, size = ours_only() ? 1000000 : 100000;
    NEED(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small) == 0);
    client = opened(SOCK_STREAM);
    join(client);
    NEED((accepted = accept(listener, 0, 0)) >= 0);
    close(listener);
    NEED(setsockopt(client, SOL_SOCKET, SO_LINGER, &on, sizeof on) == 0);
    struct linger kept = {0};
    socklen_t len = sizeof kept;
    NEED(getsockopt(client, SOL_SOCKET, SO_LINGER, &kept, &len) == 0 && kept.l_linger == 8 && kept.l_onoff == 1);
    if (fork() == 0) {
        close(client);
        pause_ms(500);
        size_t all = 0;
        ssize_t got;
        while ((got = recv(accepted, data, sizeof data, 0)) > 0)
            all += got;
        _exit(got == 0 && all == 2u * size ? 0 : 1);
    }
    close(accepted);
    double begun = seconds();
    NEED(send(client, data, size, 0) == size);
    NEED(send(client, data, size, 0) == size);
    /* Another process has a copy of the descriptor, so the first close does not wait. */
    if (fork() == 0) {
        double closing = seconds();
        close(client);
        _exit(seconds() - closing < 0.3 ? 0 : 1);
    }
    int status;
    pause_ms(100);
    close(client);
    /* The peer has read all now, and its process ends. */
    NEED(seconds() - begun > 0.5 && seconds() - begun < 7);
    for (int n = 0; n < 2; n++)
        NEED(wait(&status) > 0 && status == 0);

    on.l_linger = 0;
    client = -1;
    pair_up(&client, &accepted);
    NEED(setsockopt(client, SOL_SOCKET, SO_LINGER, &on, sizeof on) == 0);
    close(client);
    FAILS(take(accepted, data, 8), ECONNRESET);
}

static void mmsg(void) {
    int client = -1, accepted;
    char buffers[4][16];
    struct iovec out[3] = {{"a", 1}, {"bb", 2}, {"ccc", 3}}, in[4];
    struct mmsghdr sent[3] = {0}, got[4] = {0};
    pair_up(&client, &accepted);
    set_int(client, SCTP_NODELAY, 1);
    for (int n = 0; n < 3; n++)
        sent[n].msg_hdr.msg_iov = &out[n], sent[n].msg_hdr.msg_iovlen = 1;
    for (int n = 0; n < 4; n++) {
        in[n] = (struct iovec){buffers[n], 16};
        got[n].msg_hdr.msg_iov = &in[n], got[n].msg_hdr.msg_iovlen = 1;
    }
    NEED(sendmmsg(client, sent, 3, 0) == 3 && sent[2].msg_len == 3);
    pause_ms(200);
    NEED(recvmmsg(accepted, got, 4, MSG_WAITFORONE, 0) == 3);
    NEED(got[1].msg_len == 2 && !memcmp(buffers[1], "bb", 2) && (got[2].msg_hdr.msg_flags & MSG_EOR));
    FAILS(recvmmsg(accepted, got, 4, MSG_DONTWAIT, 0), EAGAIN);
}

static void resets(void) {
    int client = opened(SOCK_STREAM), accepted, listener = server(SOCK_STREAM);
    struct sctp_assoc_value all = {.assoc_value = 7};
    char data[64];
    set(listener, SCTP_ENABLE_STREAM_RESET, &all, sizeof all);
    set(client, SCTP_ENABLE_STREAM_RESET, &all, sizeof all);
    join(client);
    NEED((accepted = accept(listener, 0, 0)) >= 0);
    events(client);
    NEED(send(client, "x", 1, 0) == 1);
    NEED(take(accepted, data, 64) == 1);
    pause_ms(300); /* Linux resets no streams while data is outstanding. */
    struct sctp_reset_streams reset = {.srs_flags = SCTP_STREAM_RESET_OUTGOING};
    set(client, SCTP_RESET_STREAMS, &reset, sizeof reset);
    told(client, SCTP_STREAM_RESET_EVENT, -1);
    struct sctp_add_streams add = {.sas_outstrms = 5};
    struct sctp_status status = {0};
    socklen_t len = sizeof status;
    NEED(getsockopt(client, IPPROTO_SCTP, SCTP_STATUS, &status, &len) == 0);
    FAILS(post(client, "x", 1, status.sstat_outstrms, 0, 0), EINVAL);
    set(client, SCTP_ADD_STREAMS, &add, sizeof add);
    told(client, SCTP_STREAM_CHANGE_EVENT, -1);
    NEED(post(client, "y", 1, status.sstat_outstrms, 0, 0) == 1);
    NEED(take(accepted, data, 64) == 1 && data[0] == 'y');
    pause_ms(300);
    set(client, SCTP_RESET_ASSOC, &(int){0}, sizeof(int));
    told(client, SCTP_ASSOC_RESET_EVENT, -1);
}

static void give_key(int fd, const char *text) {
    char value[64] = {0};
    struct sctp_authkey *key = (void *)value;
    key->sca_keynumber = 1;
    key->sca_keylength = strlen(text);
    memcpy(key->sca_key, text, strlen(text));
    set(fd, SCTP_AUTH_KEY, key, sizeof *key + strlen(text));
    struct sctp_authkeyid active = {.scact_keynumber = 1};
    set(fd, SCTP_AUTH_ACTIVE_KEY, &active, sizeof active);
}

/* With equal keys data arrives, and with different keys it does not. */
static void keys(void) {
    for (int n = 0; n < 2; n++) {
        int client = opened(SOCK_STREAM), listener = server(SOCK_STREAM), accepted;
        struct sctp_authchunk kind = {.sauth_chunk = 0};
        struct {
            sctp_assoc_t id;
            unsigned count;
            unsigned char types[16];
        } demanded = {0};
        socklen_t len = sizeof demanded;
        set(client, SCTP_AUTH_CHUNK, &kind, sizeof kind);
        set(listener, SCTP_AUTH_CHUNK, &kind, sizeof kind);
        give_key(client, "secret");
        give_key(listener, n == 0 ? "secret" : "other");
        join(client);
        NEED((accepted = accept(listener, 0, 0)) >= 0);
        NEED(getsockopt(client, IPPROTO_SCTP, SCTP_PEER_AUTH_CHUNKS, &demanded, &len) == 0);
        NEED(demanded.count >= 1 && len == 8 + demanded.count && memchr(demanded.types, 0, demanded.count));
        NEED(send(client, "x", 1, 0) == 1);
        struct pollfd ready = {accepted, POLLIN, 0};
        NEED(poll(&ready, 1, 700) == (n == 0));
        struct linger abort = {1, 0};
        setsockopt(client, SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
        close(client), close(accepted), close(listener);
    }
}

/* poll on a listening socket. */
static void ready(void) {
    int listener = server(SOCK_STREAM), client = opened(SOCK_STREAM);
    struct pollfd poll_of = {listener, POLLIN | POLLOUT, 0};
    NEED(poll(&poll_of, 1, 200) == 0);
    NEED(listen(listener, 5) == 0);
    join(client);
    NEED(poll(&poll_of, 1, 1000) == 1 && poll_of.revents == POLLIN);
    int accepted = accept(listener, 0, 0);
    NEED(accepted >= 0);
    poll_of.fd = accepted;
    NEED(poll(&poll_of, 1, 200) == 1 && poll_of.revents == POLLOUT);
    close(listener);
    close(server(SOCK_STREAM));
}

/* Ten thousand sockets are open, and two that are connected work. The parent process runs the stack. */
static void crowd(void) {
    enum { SOCKETS = 10000, MEGABYTES = 200, MOST_SECONDS = 30 };
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < SOCKETS + 100) {
        fprintf(stderr, "SKIPPED: only %lu descriptors are allowed\n", limit.rlim_max);
        return;
    }
    double begun = seconds();
    for (int n = 0; n < SOCKETS; n++) {
        int fd = opened(n % 2 ? SOCK_STREAM : SOCK_SEQPACKET);
        struct sockaddr_in address = at(10000 + n, "127.0.0.1");
        NEED(n % 10 || (bind(fd, (void *)&address, sizeof address) == 0 && listen(fd, 5) == 0));
    }
    int client = -1, accepted, kilobytes = 0;
    char data[8], line[256];
    pair_up(&client, &accepted);
    for (int n = 0; n < 100; n++) {
        NEED(send(client, "ping", 4, 0) == 4);
        NEED(take(accepted, data, 8) == 4);
    }
    sprintf(line, "/proc/%d/status", getppid());
    FILE *status = fopen(line, "r");
    while (fgets(line, sizeof line, status))
        sscanf(line, "VmRSS: %d", &kilobytes);
    fprintf(stderr, "%d kB, %.1f s\n", kilobytes, seconds() - begun);
    NEED(kilobytes > 0 && kilobytes < MEGABYTES * 1000 && seconds() - begun < MOST_SECONDS);
}

/* A program gets a socket by exec after its association has ended. */
static void inherited(void) {
    int client = -1, accepted, out[2];
    char data[200];
    pair_up(&client, &accepted);
    NEED(send(client, "hello", 5, 0) == 5);
    close(client);
    pause_ms(300);
    NEED(pipe(out) == 0);
    if (fork() == 0) {
        dup2(accepted, 0);
        dup2(out[1], 1);
        close(out[0]);
        close(out[1]);
        execlp("cat", "cat", NULL);
        _exit(1);
    }
    close(out[1]);
    NEED(read(out[0], data, sizeof data) == 5 && !memcmp(data, "hello", 5));
    NEED(read(out[0], data, sizeof data) == 0);
}

static size_t length_of(int n) { return 1 + n * 37 % 2500; }

/* Receives message n of `bursts`, at most `room` bytes in a call. The memory behind the received bytes must not
 * change. */
static void expect(int fd, int n, size_t room) {
    static unsigned char data[70000];
    for (size_t got = 0; got < length_of(n);) {
        memset(data, 0xee, sizeof data);
        ssize_t len = take(fd, data, room);
        NEED(len > 0 && got + len <= length_of(n));
        NEED(data[0] == n && data[len - 1] == n && data[len] == 0xee);
        got += len;
        NEED(!(last_flags & MSG_EOR) == (got < length_of(n)));
    }
}

/* The process with the stack writes several messages in one record. The program receives each by itself. */
static void bursts(void) {
    int client = -1, accepted, n, ended, waiting = 0;
    unsigned char data[4000];
    pair_up(&client, &accepted);
    for (n = 0; n < 160; n++)
        NEED(send(client, memset(data, n, sizeof data), length_of(n), 0) == (ssize_t)length_of(n));
    pause_ms(500);
    for (n = 0; n < 30; n++)
        expect(accepted, n, 69999);
    for (; n < 50; n++)
        expect(accepted, n, n % 3 ? 3000 : 100);
    for (; n < 60; n++) {
        NEED(ioctl(accepted, FIONREAD, &waiting) == 0 && waiting == (int)length_of(n));
        NEED(recv(accepted, data, sizeof data, MSG_PEEK) == (ssize_t)length_of(n) && data[0] == n);
        NEED(recv(accepted, data, 1, MSG_PEEK) == 1 && data[0] == n);
        NEED(recv(accepted, data, 1, 0) == 1);
        NEED(ioctl(accepted, FIONREAD, &waiting) == 0 && waiting == (int)length_of(n) - 1);
        NEED(recv(accepted, data, sizeof data, 0) == (ssize_t)length_of(n) - 1 && data[0] == n);
    }
    set_int(accepted, SCTP_RECVNXTINFO, 1);
    for (; n < 80; n++) {
        expect(accepted, n, 3000);
        NEED(next_info.nxt_length == length_of(n + 1));
    }
    set_int(accepted, SCTP_RECVNXTINFO, 0);
    int copy = dup(accepted);
    for (; n < 100; n++)
        expect(n % 3 ? accepted : copy, n, n % 5 ? 3000 : 100);
    for (int turn = 0; turn < 3; turn++) {
        int last = n + 10;
        if (fork() == 0) {
            for (; n < last; n++)
                expect(accepted, n, 3000);
            exit(0);
        }
        NEED(wait(&ended) > 0 && ended == 0);
        for (n = last; n < last + 10; n++)
            expect(copy, n, 100);
    }
    FAILS(recv(accepted, data, 1, MSG_DONTWAIT), EAGAIN);
    NEED(send(client, "end", 3, 0) == 3);
    NEED(take(accepted, data, sizeof data) == 3 && !memcmp(data, "end", 3));
    close(client);
    NEED(take(accepted, data, sizeof data) == 0);
}

static unsigned assoc_value(int fd, int name) {
    struct sctp_assoc_value value = {.assoc_value = 99};
    socklen_t len = sizeof value;
    NEED(getsockopt(fd, IPPROTO_SCTP, name, &value, &len) == 0 && len == sizeof value);
    return value.assoc_value;
}

/* With TELL a program gets notifications of potentially failed paths; with HIDE it cannot read their state. */
static void exposed(void) {
    enum { HIDE = 1, TELL = 2 };
    int client = opened(SOCK_STREAM), listener = opened(SOCK_STREAM), accepted;
    struct sockaddr_in both[2] = {at(PORT, "127.0.0.1"), at(PORT, "127.0.0.2")};
    struct sctp_assoc_value expose = {.assoc_value = TELL}, wrong = {.assoc_value = 3};
    struct sctp_rtoinfo rto = {.srto_initial = 200, .srto_min = 200, .srto_max = 500};
    if (system("nft add table ip t && nft 'add chain ip t o { type filter hook output priority 0; }'") != 0) {
        fprintf(stderr, "SKIPPED: no nft\n");
        return;
    }
    set(listener, SCTP_SOCKOPT_BINDX_ADD, both, sizeof both);
    NEED(listen(listener, 5) == 0);
    FAILS(setsockopt(client, IPPROTO_SCTP, SCTP_EXPOSE_PF_STATE, &wrong, sizeof wrong), EINVAL);
    set(client, SCTP_EXPOSE_PF_STATE, &expose, sizeof expose);
    NEED(assoc_value(client, SCTP_EXPOSE_PF_STATE) == TELL);
    set(client, SCTP_RTOINFO, &rto, sizeof rto);
    events(client);
    NEED(setsockopt(client, IPPROTO_SCTP, SCTP_SOCKOPT_CONNECTX, both, sizeof both) > 0);
    NEED((accepted = accept(listener, 0, 0)) >= 0);
    NEED(send(client, "x", 1, 0) == 1);
    NEED(system("nft add rule ip t o ip daddr 127.0.0.2 drop") == 0);
    struct sctp_paddrparams beat = {.spp_flags = SPP_HB_ENABLE, .spp_hbinterval = 200};
    memcpy(&beat.spp_address, &both[1], sizeof both[1]);
    set(client, SCTP_PEER_ADDR_PARAMS, &beat, sizeof beat);
    beat.spp_flags = SPP_HB_DEMAND, beat.spp_hbinterval = 0;
    set(client, SCTP_PEER_ADDR_PARAMS, &beat, sizeof beat);
    union sctp_notification what;
    do
        NEED(take(client, &what, sizeof what) > 0);
    while (what.sn_header.sn_type != SCTP_PEER_ADDR_CHANGE ||
           what.sn_paddr_change.spc_state != SCTP_ADDR_POTENTIALLY_FAILED);
    struct sctp_paddrinfo path = {0};
    socklen_t len = sizeof path;
    memcpy(&path.spinfo_address, &both[1], sizeof both[1]);
    NEED(getsockopt(client, IPPROTO_SCTP, SCTP_GET_PEER_ADDR_INFO, &path, &len) == 0);
    NEED(path.spinfo_state == SCTP_PF);
    expose.assoc_value = HIDE;
    set(client, SCTP_EXPOSE_PF_STATE, &expose, sizeof expose);
    FAILS(getsockopt(client, IPPROTO_SCTP, SCTP_GET_PEER_ADDR_INFO, &path, &len), EACCES);
}

static struct sctp_prstatus abandoned(int fd, int name, int stream, int policy) {
    struct sctp_prstatus status = {.sprstat_sid = stream, .sprstat_policy = policy};
    socklen_t len = sizeof status;
    NEED(getsockopt(fd, IPPROTO_SCTP, name, &status, &len) == 0 && len == sizeof status);
    return status;
}

/* Messages with a lifetime of 20 ms are abandoned while the peer does not read. */
static void lifetimes(void) {
    int client = opened(SOCK_STREAM), listener = server(SOCK_STREAM), small = 65536, accepted;
    char data[1000] = {0};
    NEED(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small) == 0);
    join(client);
    NEED((accepted = accept(listener, 0, 0)) >= 0);
    struct sctp_default_prinfo info = {.pr_policy = SCTP_PR_SCTP_TTL, .pr_value = 20};
    struct sctp_sndinfo usual = {.snd_sid = 1};
    set(client, SCTP_DEFAULT_SNDINFO, &usual, sizeof usual);
    set(client, SCTP_DEFAULT_PRINFO, &info, sizeof info);
    for (int n = 0; n < 3000; n++)
        NEED(send(client, data, sizeof data, 0) == sizeof data);
    pause_ms(300);
    struct sctp_prstatus one = abandoned(client, SCTP_PR_STREAM_STATUS, 1, SCTP_PR_SCTP_TTL);
    struct sctp_prstatus all = abandoned(client, SCTP_PR_ASSOC_STATUS, 0, SCTP_PR_SCTP_ALL);
    NEED(one.sprstat_abandoned_unsent > 0 && one.sprstat_abandoned_unsent == all.sprstat_abandoned_unsent);
    NEED(abandoned(client, SCTP_PR_STREAM_STATUS, 0, SCTP_PR_SCTP_ALL).sprstat_abandoned_unsent == 0);
    NEED(abandoned(client, SCTP_PR_ASSOC_STATUS, 0, SCTP_PR_SCTP_RTX).sprstat_abandoned_unsent == 0);
    one.sprstat_policy = 0;
    socklen_t len = sizeof one;
    FAILS(getsockopt(client, IPPROTO_SCTP, SCTP_PR_STREAM_STATUS, &one, &len), EINVAL);
}

/* Messages that were queued while the peer did not read arrive in the order of their priorities. */
static void scheduler(void) {
    int client = opened(SOCK_STREAM), listener = server(SOCK_STREAM), small = 65536, accepted;
    struct sctp_assoc_value by_priority = {.assoc_value = SCTP_SS_PRIO}, wrong = {.assoc_value = 5};
    struct sctp_stream_value low = {.stream_id = 1, .stream_value = 9}, none = {.stream_id = 500};
    socklen_t len = sizeof low;
    char data[1000] = {0};
    FAILS(setsockopt(client, IPPROTO_SCTP, SCTP_STREAM_SCHEDULER, &wrong, sizeof wrong), EINVAL);
    set(client, SCTP_STREAM_SCHEDULER, &by_priority, sizeof by_priority);
    NEED(assoc_value(client, SCTP_STREAM_SCHEDULER) == SCTP_SS_PRIO);
    NEED(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small) == 0);
    join(client);
    NEED((accepted = accept(listener, 0, 0)) >= 0);
    set(client, SCTP_STREAM_SCHEDULER_VALUE, &low, sizeof low);
    FAILS(setsockopt(client, IPPROTO_SCTP, SCTP_STREAM_SCHEDULER_VALUE, &none, sizeof none), EINVAL);
    low.stream_value = 0;
    NEED(getsockopt(client, IPPROTO_SCTP, SCTP_STREAM_SCHEDULER_VALUE, &low, &len) == 0);
    NEED(len == sizeof low && low.stream_id == 1 && low.stream_value == 9);
    FAILS(getsockopt(client, IPPROTO_SCTP, SCTP_STREAM_SCHEDULER_VALUE, &none, &len), EINVAL);
    for (int n = 0; n < 900; n++)
        NEED(post(client, data, sizeof data, 1, 0, 0) == sizeof data);
    NEED(post(client, "H", 1, 2, 0, 0) == 1);
    pause_ms(300);
    int before = 0;
    while (take(accepted, data, sizeof data) > 0 && data[0] != 'H')
        before++;
    NEED(before < 900);
}

/* Kinds of sockets that are not SCTP's: a raw socket is that of the kernel. */
static void kinds(void) {
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    FAILS(socket(AF_INET, SOCK_DGRAM, IPPROTO_SCTP), EPROTONOSUPPORT);
    FAILS(socket(AF_INET, SOCK_RDM, IPPROTO_SCTP), ESOCKTNOSUPPORT);
    FAILS(socket(AF_UNIX, SOCK_STREAM, IPPROTO_SCTP), EPROTONOSUPPORT);
    NEED(socket(AF_INET, SOCK_RAW, IPPROTO_SCTP) >= 0);
    FAILS(accept(server(SOCK_SEQPACKET), 0, 0), EOPNOTSUPP);
    FAILS(accept(opened(SOCK_STREAM), 0, 0), EINVAL);
    FAILS(bind(opened(SOCK_STREAM), (void *)&six, sizeof six), EINVAL);
    FAILS(connect(opened(SOCK_STREAM), (void *)&six, sizeof six), EINVAL);
}

/* What does not fit into the buffer for control messages is told, also if there is no buffer. */
static void truncated(void) {
    int client = -1, accepted;
    char data[8], control[CMSG_SPACE(sizeof(struct sctp_rcvinfo))];
    struct iovec part = {data, sizeof data};
    pair_up(&client, &accepted);
    for (int n = 0; n < 4; n++) {
        struct msghdr message = {0, 0, &part, 1, n & 1 ? control : 0, n & 1 ? sizeof control : 0, 0};
        set_int(accepted, SCTP_RECVRCVINFO, n > 1);
        NEED(send(client, "x", 1, 0) == 1);
        NEED(recvmsg(accepted, &message, 0) == 1);
        NEED(message.msg_flags == (n == 2 ? MSG_EOR | MSG_CTRUNC : MSG_EOR));
        NEED(message.msg_controllen == (n == 3 ? sizeof control : 0));
    }
}

/* Without an association a message is refused, with a signal unless the program wants none. */
static void alone(void) {
    int styles[] = {SOCK_STREAM, SOCK_SEQPACKET}, ended, client = -1, accepted;
    for (int n = 0; n < 2; n++) {
        int fd = opened(styles[n]);
        FAILS(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
        if (fork() == 0)
            send(fd, "x", 1, 0), _exit(0);
        NEED(wait(&ended) > 0 && WIFSIGNALED(ended) && WTERMSIG(ended) == SIGPIPE);
        close(fd);
    }
    pair_up(&client, &accepted);
    if (fork() == 0) {
        close(client);
        NEED(send(accepted, "x", 1, 0) == 1);
        exit(0);
    }
    NEED(wait(&ended) > 0 && ended == 0);
    close(accepted);
    pause_ms(300);
    FAILS(send(client, "x", 1, MSG_NOSIGNAL), EPIPE);
}

/* A connect tells that the peer refuses, even if there are notifications, and waits until the peer accepts. */
static void refused(void) {
    static const int styles[] = {SOCK_STREAM, SOCK_SEQPACKET, SOCK_STREAM | SOCK_NONBLOCK};
    struct sockaddr_in to = at(PORT, "127.0.0.1");
    struct sctp_assoc_change change;
    for (int n = 0; n < 3; n++) {
        int fd = opened(styles[n]), error = 0;
        socklen_t len = sizeof error;
        events(fd);
        if (styles[n] & SOCK_NONBLOCK) {
            struct pollfd ready = {fd, POLLOUT, 0};
            FAILS(connect(fd, (void *)&to, sizeof to), EINPROGRESS);
            NEED(poll(&ready, 1, 5000) == 1);
            NEED(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error == ECONNREFUSED);
        } else {
            FAILS(connect(fd, (void *)&to, sizeof to), ECONNREFUSED);
        }
        /* A one-to-one socket of Linux keeps the error of a connect that waited. */
        int kept = !ours_only() && styles[n] == SOCK_STREAM;
        NEED(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error == (kept ? ECONNREFUSED : 0));
        NEED(take(fd, &change, sizeof change) == sizeof change && last_flags & MSG_NOTIFICATION);
        NEED(change.sac_type == SCTP_ASSOC_CHANGE && change.sac_state == SCTP_CANT_STR_ASSOC);
        FAILS(send(fd, "x", 1, MSG_NOSIGNAL), EPIPE);
        close(fd);
    }
    int listener = server(SOCK_SEQPACKET);
    for (int n = 0; n < 50; n++) {
        int many = opened(SOCK_SEQPACKET);
        struct sctp_status status = {0};
        socklen_t len = sizeof status;
        status.sstat_assoc_id = setsockopt(many, IPPROTO_SCTP, SCTP_SOCKOPT_CONNECTX, &to, sizeof to);
        NEED(getsockopt(many, IPPROTO_SCTP, SCTP_STATUS, &status, &len) == 0);
        NEED(status.sstat_state == SCTP_ESTABLISHED);
        close(many);
    }
    close(listener);
}

int main(int count, char **names) {
    static const struct check checks[] = {
        {"streams", streams}, {"unread", unread}, {"bindx", bindx}, {"nxtinfo", nxtinfo},
        {"fragments", fragments}, {"large", large}, {"linger", linger}, {"mmsg", mmsg},
        {"resets", resets}, {"keys", keys}, {"ready", ready}, {"crowd", crowd},
        {"inherited", inherited}, {"bursts", bursts}, {"exposed", exposed}, {"lifetimes", lifetimes},
        {"scheduler", scheduler}, {"refused", refused}, {"alone", alone}, {"kinds", kinds},
        {"truncated", truncated}};
    return run(count, names, checks, sizeof checks / sizeof *checks);
}
