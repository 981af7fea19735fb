/* One end of an association: `peer server|client WHAT PORT`. Both ends do the same steps, over 10.1.0.1 and 10.2.0.1 of the
 * server, 10.1.0.2 and 10.2.0.2 of the client. Exit code 0 means that all messages arrived as they were sent. */
#include "../sockets.h"

enum { MESSAGES = 60, LONGEST = 20000, STREAMS = 5, MAYBE = 150 };

static const char *what;
static int is_server, first_port;

static int is(const char *name) { return !strcmp(what, name); }

static void option(int fd, int name, uint32_t value) {
    struct sctp_assoc_value all = {0, value};
    set(fd, name, &all, sizeof all);
}

static void prepare(int fd) {
    struct sctp_initmsg init = {.sinit_num_ostreams = STREAMS, .sinit_max_instreams = 20};
    set(fd, SCTP_INITMSG, &init, sizeof init);
    set_int(fd, SCTP_RECVRCVINFO, 1);
    set_int(fd, SCTP_NODELAY, 1);
    if (is("I-DATA")) {
        set_int(fd, SCTP_FRAGMENT_INTERLEAVE, 2);
        option(fd, SCTP_INTERLEAVING_SUPPORTED, 1);
    }
    if (is("AUTH")) {
        struct sctp_authchunk data = {0}; /* DATA */
        set(fd, SCTP_AUTH_CHUNK, &data, sizeof data);
        struct {
            struct sctp_authkey head;
            char text[8];
        } key = {{.sca_keylength = 6}, "secret"};
        set(fd, SCTP_AUTH_KEY, &key, sizeof key.head + 6);
    }
    if (is("RE-CONFIG"))
        option(fd, SCTP_ENABLE_STREAM_RESET, 7);
}

static void bind_to(int fd, int port) {
    const char *names[] = {is_server ? "10.1.0.1" : "10.1.0.2", is_server ? "10.2.0.1" : "10.2.0.2"};
    struct sockaddr_in all[] = {at(port, names[0]), at(port, names[1])};
    set(fd, SCTP_SOCKOPT_BINDX_ADD, all, (is("ASCONF") ? 1 : 2) * sizeof *all);
}

static int prepared(void) {
    int fd = opened(SOCK_STREAM);
    prepare(fd);
    bind_to(fd, is_server ? first_port : 0);
    return fd;
}

/* The association of this end. The server may need some time to listen. */
static int established(void) {
    int fd = prepared();
    struct sockaddr_in server = at(first_port, "10.1.0.1");
    if (is_server) {
        NEED(listen(fd, 1) == 0);
        int accepted = accept(fd, NULL, NULL);
        NEED(accepted >= 0);
        close(fd);
        return accepted;
    }
    for (int tries = 0; connect(fd, (void *)&server, sizeof server) != 0; tries++) {
        NEED(errno == ECONNREFUSED && tries < 20);
        close(fd);
        pause_ms(500);
        fd = prepared();
    }
    return fd;
}

static void give(int fd, const void *data, size_t len, int stream, int policy) {
    char control[CMSG_SPACE(sizeof(struct sctp_sndinfo)) + CMSG_SPACE(sizeof(struct sctp_prinfo))] = {0};
    struct iovec part = {(void *)data, len};
    struct msghdr message = {0, 0, &part, 1, control, sizeof control, 0};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    *head = (struct cmsghdr){CMSG_LEN(sizeof(struct sctp_sndinfo)), IPPROTO_SCTP, SCTP_SNDINFO};
    struct sctp_sndinfo info = {.snd_sid = stream, .snd_ppid = htonl(stream + 100)};
    memcpy(CMSG_DATA(head), &info, sizeof info);
    head = CMSG_NXTHDR(&message, head);
    *head = (struct cmsghdr){CMSG_LEN(sizeof(struct sctp_prinfo)), IPPROTO_SCTP, SCTP_PRINFO};
    struct sctp_prinfo lifetime = {.pr_policy = policy};
    memcpy(CMSG_DATA(head), &lifetime, sizeof lifetime);
    NEED(sendmsg(fd, &message, 0) == (ssize_t)len);
}

/* Linux 6.1 numbers the fragments of I-DATA in another way than RFC 8260, so that these messages have one. */
static size_t length_of(int n) { return 1 + n * 7919 % (is("I-DATA") ? 1000 : LONGEST); }

/* What has arrived of the present message of each stream, and the number of that message. */
static unsigned char parts[STREAMS][LONGEST];
static size_t have[STREAMS];
static int number[STREAMS];

/* Receives a part of a message; returns 1 if it is the last one. */
static int take_part(int fd) {
    static unsigned char data[LONGEST];
    char control[256];
    struct iovec room = {data, sizeof data};
    struct msghdr message = {0, 0, &room, 1, control, sizeof control, 0};
    ssize_t got = recvmsg(fd, &message, 0);
    NEED(got > 0 && !(message.msg_flags & MSG_NOTIFICATION));
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    NEED(head && head->cmsg_type == SCTP_RCVINFO);
    struct sctp_rcvinfo *info = (void *)CMSG_DATA(head);
    int stream = info->rcv_sid;
    NEED(stream < STREAMS && ntohl(info->rcv_ppid) == stream + 100u);
    NEED(have[stream] + got <= LONGEST);
    memcpy(parts[stream] + have[stream], data, got);
    have[stream] += got;
    if (!(message.msg_flags & MSG_EOR))
        return 0;
    NEED(have[stream] == length_of(number[stream]));
    for (size_t n = 0; n < have[stream]; n++)
        NEED(parts[stream][n] == number[stream] % 256);
    have[stream] = 0, number[stream] += STREAMS;
    return 1;
}

/* Sends messages on all streams, and receives those of the peer, of which at most one a stream is on its way. */
static void exchange(int fd) {
    static unsigned char data[LONGEST];
    for (int stream = 0; stream < STREAMS; stream++)
        number[stream] = stream;
    for (int sent = 0, got = 0; got < MESSAGES;) {
        if (sent < MESSAGES && sent < got + STREAMS) {
            memset(data, sent % 256, sizeof data);
            give(fd, data, length_of(sent), sent % STREAMS, SCTP_PR_SCTP_NONE);
            sent++;
        } else {
            got += take_part(fd);
        }
    }
}

/* The client, then the server, sends messages that are given up when they are lost, and one that is not. */
static void unreliable(int fd) {
    char data[1000] = {0};
    int count = 0;
    for (int turn = 0; turn < 2; turn++) {
        if (turn == is_server) {
            for (int n = 0; n < MAYBE; n++) {
                give(fd, data, sizeof data, 0, SCTP_PR_SCTP_RTX);
                pause_ms(2);
            }
            give(fd, "end", 3, 0, SCTP_PR_SCTP_NONE);
        } else {
            while (recv(fd, data, sizeof data, 0) != 3)
                count++;
        }
    }
    NEED(count > MAYBE / 2 && count < MAYBE);
}

static void renew_streams(int fd) {
    struct {
        struct sctp_reset_streams head;
        uint16_t stream;
    } reset = {{.srs_flags = SCTP_STREAM_RESET_OUTGOING, .srs_number_streams = 1}, 1};
    struct sctp_add_streams more = {.sas_outstrms = 3};
    /* An end that has a request of the peer to answer does not take another one. */
    pause_ms(is_server ? 1500 : 0);
    set(fd, SCTP_RESET_STREAMS, &reset, sizeof reset.head + 2);
    pause_ms(500);
    set(fd, SCTP_ADD_STREAMS, &more, sizeof more);
    pause_ms(is_server ? 500 : 2000);
    struct sctp_status status = {0};
    socklen_t len = sizeof status;
    NEED(getsockopt(fd, IPPROTO_SCTP, SCTP_STATUS, &status, &len) == 0);
    NEED(status.sstat_outstrms == STREAMS + 3 && status.sstat_instrms == STREAMS + 3);
}

/* Adds the other address, and leaves the first one. */
static void move(int fd) {
    struct sockaddr_in first = at(0, is_server ? "10.1.0.1" : "10.1.0.2"), other = at(0, is_server ? "10.2.0.1" : "10.2.0.2");
    socklen_t len = sizeof(struct sockaddr_in);
    struct sockaddr_in name;
    NEED(getsockname(fd, (void *)&name, &len) == 0);
    first.sin_port = other.sin_port = name.sin_port;
    pause_ms(is_server ? 2000 : 0);
    set(fd, SCTP_SOCKOPT_BINDX_ADD, &other, sizeof other);
    pause_ms(1000);
    set(fd, SCTP_SOCKOPT_BINDX_REM, &first, sizeof first);
    pause_ms(is_server ? 1000 : 3000);
}

int main(int count, char **words) {
    NEED(count == 4);
    is_server = !strcmp(words[1], "server"), what = words[2], first_port = atoi(words[3]);
    int fd = established();
    if (is("PR-SCTP"))
        unreliable(fd);
    else
        exchange(fd);
    if (is("RE-CONFIG"))
        renew_streams(fd);
    if (is("ASCONF"))
        move(fd);
    if (is("RE-CONFIG") || is("ASCONF"))
        exchange(fd);
    /* The client ends the association. */
    char end;
    if (is_server)
        NEED(recv(fd, &end, 1, 0) == 0);
    close(fd);
    return 0;
}
