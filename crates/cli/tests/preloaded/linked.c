/* What a program linked with libusrsctp sees: passes with the original library and with ours. Two sockets of
 * family AF_CONN in one process, whose packets two threads carry. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <usrsctp.h>

#include "../need.h"

static int ends[2];

static int output(void *address, void *packet, size_t length, uint8_t tos, uint8_t set_df) {
    (void)tos, (void)set_df;
    return send(*(int *)address, packet, length, 0) < 0 ? errno : 0;
}

static void *carry(void *address) {
    char packet[65536];
    ssize_t length;
    while ((length = recv(*(int *)address, packet, sizeof packet, 0)) > 0)
        usrsctp_conninput(address, packet, (size_t)length, 0);
    return NULL;
}

static struct sockaddr_conn at(void *address, uint16_t port) {
    struct sockaddr_conn conn = {.sconn_family = AF_CONN, .sconn_port = htons(port), .sconn_addr = address};
    return conn;
}

#define SET(socket, name, value) usrsctp_setsockopt(socket, IPPROTO_SCTP, name, &(value), sizeof(value))

static int get(struct socket *socket, int name, void *value, socklen_t size) {
    socklen_t length = size;
    int result = usrsctp_getsockopt(socket, IPPROTO_SCTP, name, value, &length);
    return result == 0 && length != size ? -2 : result;
}

static void subscribe(struct socket *socket) {
    uint16_t types[] = {SCTP_ASSOC_CHANGE, SCTP_PEER_ADDR_CHANGE, SCTP_SHUTDOWN_EVENT, SCTP_SENDER_DRY_EVENT,
                        SCTP_STREAM_RESET_EVENT, SCTP_SEND_FAILED_EVENT};
    for (size_t n = 0; n < sizeof types / sizeof *types; n++) {
        struct sctp_event event = {.se_assoc_id = SCTP_FUTURE_ASSOC, .se_type = types[n], .se_on = 1};
        NEED(SET(socket, SCTP_EVENT, event) == 0);
    }
    struct sctp_event never = {.se_type = SCTP_NOTIFICATIONS_STOPPED_EVENT, .se_on = 1};
    NEED(SET(socket, SCTP_EVENT, never) == -1 && errno == ENOTSUP);
}

/* Options keep what was set, each in its place in the struct. */
static void options(struct socket *socket) {
    struct sctp_rtoinfo rto = {.srto_initial = 700, .srto_max = 9000, .srto_min = 300}, got_rto = {0};
    NEED(SET(socket, SCTP_RTOINFO, rto) == 0 && get(socket, SCTP_RTOINFO, &got_rto, sizeof got_rto) == 0);
    NEED(got_rto.srto_initial == 700 && got_rto.srto_max == 9000 && got_rto.srto_min == 300);
    struct sctp_assocparams all = {.sasoc_asocmaxrxt = 7, .sasoc_cookie_life = 50000}, got_all = {0};
    NEED(SET(socket, SCTP_ASSOCINFO, all) == 0 && get(socket, SCTP_ASSOCINFO, &got_all, sizeof got_all) == 0);
    NEED(got_all.sasoc_asocmaxrxt == 7 && got_all.sasoc_cookie_life == 50000);
    struct sctp_initmsg init = {.sinit_num_ostreams = 12, .sinit_max_instreams = 34}, got_init = {0};
    NEED(SET(socket, SCTP_INITMSG, init) == 0 && get(socket, SCTP_INITMSG, &got_init, sizeof got_init) == 0);
    NEED(got_init.sinit_num_ostreams == 12 && got_init.sinit_max_instreams == 34);
    struct sctp_sndinfo info = {.snd_sid = 3, .snd_flags = SCTP_UNORDERED, .snd_ppid = 8}, got_info = {0};
    NEED(SET(socket, SCTP_DEFAULT_SNDINFO, info) == 0);
    NEED(get(socket, SCTP_DEFAULT_SNDINFO, &got_info, sizeof got_info) == 0);
    NEED(got_info.snd_sid == 3 && got_info.snd_flags == SCTP_UNORDERED && got_info.snd_ppid == 8);
    info.snd_sid = 0, info.snd_flags = 0, info.snd_ppid = 0;
    NEED(SET(socket, SCTP_DEFAULT_SNDINFO, info) == 0);
    struct sctp_default_prinfo pr = {.pr_policy = SCTP_PR_SCTP_RTX, .pr_value = 5}, got_pr = {0};
    NEED(SET(socket, SCTP_DEFAULT_PRINFO, pr) == 0);
    NEED(get(socket, SCTP_DEFAULT_PRINFO, &got_pr, sizeof got_pr) == 0);
    NEED(got_pr.pr_policy == SCTP_PR_SCTP_RTX && got_pr.pr_value == 5);
    pr.pr_policy = SCTP_PR_SCTP_NONE, pr.pr_value = 0;
    NEED(SET(socket, SCTP_DEFAULT_PRINFO, pr) == 0);
    struct sctp_event event = {.se_type = SCTP_STREAM_RESET_EVENT};
    NEED(get(socket, SCTP_EVENT, &event, sizeof event) == 0 && event.se_on == 1);
    struct sctp_sack_info sack = {.sack_delay = 90, .sack_freq = 3}, got_sack = {0};
    NEED(SET(socket, SCTP_DELAYED_SACK, sack) == 0);
    NEED(get(socket, SCTP_DELAYED_SACK, &got_sack, sizeof got_sack) == 0);
    NEED(got_sack.sack_delay == 90 && got_sack.sack_freq == 3);
    struct sctp_assoc_value reset = {.assoc_value = SCTP_ENABLE_RESET_STREAM_REQ}, got_reset = {0};
    NEED(SET(socket, SCTP_ENABLE_STREAM_RESET, reset) == 0);
    NEED(get(socket, SCTP_ENABLE_STREAM_RESET, &got_reset, sizeof got_reset) == 0);
    NEED(got_reset.assoc_value == SCTP_ENABLE_RESET_STREAM_REQ);
    struct sctp_paddrparams path = {.spp_flags = SPP_HB_ENABLE, .spp_hbinterval = 4000, .spp_pathmaxrxt = 4};
    NEED(SET(socket, SCTP_PEER_ADDR_PARAMS, path) == 0);
    memset(&path, 0, sizeof path);
    NEED(get(socket, SCTP_PEER_ADDR_PARAMS, &path, sizeof path) == 0);
    NEED(path.spp_hbinterval == 4000 && path.spp_pathmaxrxt == 4 && path.spp_flags & SPP_HB_ENABLE);
    int size = 123456, got_size = 0;
    socklen_t length = sizeof got_size;
    NEED(usrsctp_setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, sizeof size) == 0);
    NEED(usrsctp_getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &got_size, &length) == 0 && got_size == size);
    NEED(usrsctp_setsockopt(socket, IPPROTO_SCTP, 0x7777, &size, sizeof size) == -1 && errno == ENOPROTOOPT);
}

/* Receives; returns the length. */
static ssize_t receive(struct socket *socket, char *data, size_t room, struct sctp_recvv_rn *info, int *flags) {
    union sctp_sockstore from;
    socklen_t from_length = sizeof from, info_length = sizeof *info;
    unsigned int type = 0;
    *flags = 0;
    ssize_t length = usrsctp_recvv(socket, data, room, (struct sockaddr *)&from, &from_length, info, &info_length, &type, flags);
    if (length > 0 && !(*flags & MSG_NOTIFICATION)) {
        NEED(from.sconn.sconn_family == AF_CONN && ntohs(from.sconn.sconn_port) >= 5001);
        NEED(type == SCTP_RECVV_RCVINFO || type == SCTP_RECVV_RN);
    }
    return length;
}

/* Waits for a notification of this type, and drops others. */
static void expect(struct socket *socket, uint16_t type, union sctp_notification *event) {
    struct sctp_recvv_rn info;
    int flags;
    do {
        ssize_t length = receive(socket, (char *)event, sizeof *event, &info, &flags);
        NEED(length > 0 && flags & MSG_NOTIFICATION);
        NEED(event->sn_header.sn_length == (uint32_t)length);
    } while (event->sn_header.sn_type != type);
}

static void messages(struct socket *from, struct socket *to) {
    char data[4096];
    struct sctp_recvv_rn info;
    int flags, on = 1, off = 0;
    struct sctp_sendv_spa spa = {.sendv_flags = SCTP_SEND_SNDINFO_VALID | SCTP_SEND_PRINFO_VALID};
    spa.sendv_sndinfo.snd_sid = 2, spa.sendv_sndinfo.snd_ppid = htonl(51), spa.sendv_sndinfo.snd_flags = SCTP_UNORDERED;
    spa.sendv_prinfo.pr_policy = SCTP_PR_SCTP_TTL, spa.sendv_prinfo.pr_value = 60000;
    NEED(usrsctp_sendv(from, "hello", 5, NULL, 0, &spa, sizeof spa, SCTP_SENDV_SPA, 0) == 5);
    do NEED(receive(to, data, sizeof data, &info, &flags) > 0);
    while (flags & MSG_NOTIFICATION);
    NEED(memcmp(data, "hello", 5) == 0 && flags & MSG_EOR);
    NEED(info.recvv_rcvinfo.rcv_sid == 2 && info.recvv_rcvinfo.rcv_ppid == htonl(51));
    NEED(info.recvv_rcvinfo.rcv_flags & SCTP_UNORDERED);
    NEED(SET(from, SCTP_EXPLICIT_EOR, on) == 0);
    struct sctp_sndinfo part = {.snd_sid = 1};
    NEED(usrsctp_sendv(from, "one ", 4, NULL, 0, &part, sizeof part, SCTP_SENDV_SNDINFO, 0) == 4);
    part.snd_flags = SCTP_EOR;
    NEED(usrsctp_sendv(from, "message", 7, NULL, 0, &part, sizeof part, SCTP_SENDV_SNDINFO, 0) == 7);
    size_t got = 0;
    do {
        ssize_t length = receive(to, data + got, sizeof data - got, &info, &flags);
        NEED(length > 0);
        got += flags & MSG_NOTIFICATION ? 0 : (size_t)length;
    } while (flags & MSG_NOTIFICATION || !(flags & MSG_EOR));
    NEED(got == 11 && memcmp(data, "one message", 11) == 0 && info.recvv_rcvinfo.rcv_sid == 1);
    NEED(SET(from, SCTP_EXPLICIT_EOR, off) == 0);
    struct sctp_sndinfo wrong = {.snd_sid = 4000};
    NEED(usrsctp_sendv(from, "x", 1, NULL, 0, &wrong, sizeof wrong, SCTP_SENDV_SNDINFO, 0) == -1 && errno == EINVAL);
}

/* What an association tells of itself. */
static void state(struct socket *socket, void *peer) {
    struct sctp_status status = {0};
    NEED(get(socket, SCTP_STATUS, &status, sizeof status) == 0);
    NEED(status.sstat_state == SCTP_ESTABLISHED && status.sstat_outstrms == 12 && status.sstat_instrms == 12);
    struct sockaddr_conn *primary = (struct sockaddr_conn *)&status.sstat_primary.spinfo_address;
    NEED(primary->sconn_family == AF_CONN && primary->sconn_addr == peer && ntohs(primary->sconn_port) == 5001);
    NEED(status.sstat_primary.spinfo_state == SCTP_ACTIVE && status.sstat_primary.spinfo_mtu > 500);
    struct sctp_paddrinfo path = {.spinfo_assoc_id = status.sstat_assoc_id};
    memcpy(&path.spinfo_address, primary, sizeof *primary);
    NEED(get(socket, SCTP_GET_PEER_ADDR_INFO, &path, sizeof path) == 0);
    NEED(path.spinfo_state == SCTP_ACTIVE && path.spinfo_cwnd > 1000);
    struct sockaddr *addresses = NULL;
    NEED(usrsctp_getpaddrs(socket, 0, &addresses) == 1);
    NEED(((struct sockaddr_conn *)addresses)->sconn_addr == peer);
    usrsctp_freepaddrs(addresses);
    void *told = NULL;
    NEED(usrsctp_set_ulpinfo(socket, peer) == 1 && usrsctp_get_ulpinfo(socket, &told) == 1 && told == peer);
}

typedef int (*taker)(struct socket *, union sctp_sockstore, void *, size_t, struct sctp_rcvinfo, int, void *);

/* A socket at an end. */
static struct socket *opened(int kind, int end, uint16_t port, taker take) {
    struct sockaddr_conn ours = at(&ends[end], port);
    int on = 1;
    struct socket *socket = usrsctp_socket(AF_CONN, kind, IPPROTO_SCTP, take, NULL, 0, NULL);
    NEED(socket != NULL);
    subscribe(socket);
    NEED(SET(socket, SCTP_RECVRCVINFO, on) == 0);
    NEED(usrsctp_bind(socket, (struct sockaddr *)&ours, sizeof ours) == 0);
    return socket;
}

/* Waits for a message, and drops notifications. */
static void arrives(struct socket *socket, const char *text) {
    char data[64];
    struct sctp_recvv_rn info;
    int flags;
    do NEED(receive(socket, data, sizeof data, &info, &flags) > 0);
    while (flags & MSG_NOTIFICATION);
    NEED(memcmp(data, text, strlen(text)) == 0);
}

/* Options of one-to-many sockets name associations by numbers. */
static void many(void) {
    union sctp_notification event;
    struct sockaddr_conn peer = at(&ends[0], 5002);
    struct socket *client = opened(SOCK_SEQPACKET, 0, 5002, NULL), *server = opened(SOCK_SEQPACKET, 1, 5002, NULL);
    NEED(usrsctp_listen(server, 1) == 0);
    NEED(usrsctp_getassocid(client, (struct sockaddr *)&peer) == 0);
    struct sctp_sndinfo part = {.snd_sid = 1};
    NEED(usrsctp_sendv(client, "one", 3, (struct sockaddr *)&peer, 1, &part, sizeof part, SCTP_SENDV_SNDINFO, 0) == 3);
    expect(client, SCTP_ASSOC_CHANGE, &event);
    uint32_t id = event.sn_assoc_change.sac_assoc_id;
    NEED(id != 0 && usrsctp_getassocid(client, (struct sockaddr *)&peer) == id);
    struct sctp_status status = {0};
    socklen_t length = sizeof status;
    NEED(usrsctp_opt_info(client, id, SCTP_STATUS, &status, &length) == 0 && status.sstat_state == SCTP_ESTABLISHED);
    length = 8;
    NEED(usrsctp_getsockopt(client, IPPROTO_SCTP, SCTP_ASSOCINFO, &status, &length) == -1 && errno == EINVAL);
    arrives(server, "one");
    part.snd_flags = SCTP_SENDALL;
    NEED(usrsctp_sendv(client, "all", 3, NULL, 0, &part, sizeof part, SCTP_SENDV_SNDINFO, 0) == 3);
    arrives(server, "all");
    struct socket *peeled = usrsctp_peeloff(client, id);
    NEED(peeled != NULL && usrsctp_sendv(peeled, "own", 3, NULL, 0, NULL, 0, SCTP_SENDV_NOINFO, 0) == 3);
    arrives(server, "own");
    usrsctp_close(peeled), usrsctp_close(client), usrsctp_close(server);
}

static int close_it(struct socket *socket, union sctp_sockstore from, void *data, size_t length,
                    struct sctp_rcvinfo info, int flags, void *argument) {
    (void)from, (void)length, (void)info, (void)argument;
    free(data);
    if (data != NULL && !(flags & MSG_NOTIFICATION))
        usrsctp_close(socket);
    return 1;
}

/* A close tells the peer by an ABORT (type 6) with the cause "user-initiated" (12), although the address is
 * deregistered next. A close within a callback tells it, too. */
static void closed(void) {
    union sctp_notification event;
    struct sockaddr_conn peer = at(&ends[0], 5003);
    struct linger none = {.l_onoff = 1};
    struct socket *listener = opened(SOCK_STREAM, 1, 5003, NULL), *client = opened(SOCK_STREAM, 0, 5003, NULL);
    NEED(usrsctp_listen(listener, 1) == 0);
    NEED(usrsctp_connect(client, (struct sockaddr *)&peer, sizeof peer) == 0);
    struct socket *server = usrsctp_accept(listener, NULL, NULL);
    NEED(server != NULL);
    NEED(usrsctp_setsockopt(client, SOL_SOCKET, SO_LINGER, &none, sizeof none) == 0);
    usrsctp_close(client);
    usrsctp_deregister_address(&ends[0]);
    do expect(server, SCTP_ASSOC_CHANGE, &event);
    while (event.sn_assoc_change.sac_state != SCTP_COMM_LOST);
    NEED(event.sn_assoc_change.sac_error == 12);
    NEED(event.sn_assoc_change.sac_length > sizeof event.sn_assoc_change && event.sn_assoc_change.sac_info[0] == 6);
    usrsctp_register_address(&ends[0]);
    usrsctp_close(server), usrsctp_close(listener);

    peer = at(&ends[0], 5004);
    listener = opened(SOCK_STREAM, 1, 5004, close_it), client = opened(SOCK_STREAM, 0, 5004, NULL);
    NEED(usrsctp_listen(listener, 1) == 0);
    NEED(usrsctp_connect(client, (struct sockaddr *)&peer, sizeof peer) == 0);
    NEED(usrsctp_accept(listener, NULL, NULL) != NULL);
    NEED(usrsctp_sendv(client, "close", 5, NULL, 0, NULL, 0, SCTP_SENDV_NOINFO, 0) == 5);
    do expect(client, SCTP_ASSOC_CHANGE, &event);
    while (event.sn_assoc_change.sac_state == SCTP_COMM_UP);
    usrsctp_close(client), usrsctp_close(listener);
}

enum { BUSY = 5005, OTHER, QUEUED = 1000, UDP_PORT = 9897 };
static atomic_int go, busy, before_other = -1;

/* Counts messages of the busy socket. The first one takes until all messages have arrived. */
static int count(struct socket *socket, union sctp_sockstore from, void *data, size_t length,
                 struct sctp_rcvinfo info, int flags, void *argument) {
    (void)socket, (void)length, (void)info, (void)argument;
    if (data != NULL && !(flags & MSG_NOTIFICATION)) {
        if (ntohs(from.sconn.sconn_port) == OTHER)
            before_other = busy;
        else
            busy++;
        while (!go)
            usleep(1000);
    }
    free(data);
    return 1;
}

/* A socket with many messages does not keep the callbacks of another one waiting until its last message. The
 * original calls the program from the thread that carries the packets. */
static void turns(void) {
    union sctp_notification event;
    struct socket *clients[2], *listeners[2];
    for (int n = 0; n < 2; n++) {
        struct sockaddr_conn peer = at(&ends[0], BUSY + n);
        listeners[n] = opened(SOCK_STREAM, 1, BUSY + n, count), clients[n] = opened(SOCK_STREAM, 0, BUSY + n, NULL);
        NEED(usrsctp_listen(listeners[n], 1) == 0);
        NEED(usrsctp_connect(clients[n], (struct sockaddr *)&peer, sizeof peer) == 0);
        NEED(usrsctp_accept(listeners[n], NULL, NULL) != NULL);
    }
    for (int n = 0; n <= QUEUED; n++)
        NEED(usrsctp_sendv(clients[n / QUEUED], "x", 1, NULL, 0, NULL, 0, SCTP_SENDV_NOINFO, 0) == 1);
    expect(clients[0], SCTP_SENDER_DRY_EVENT, &event), expect(clients[1], SCTP_SENDER_DRY_EVENT, &event);
    go = 1;
    for (int n = 0; n < 500 && (busy < QUEUED || before_other < 0); n++)
        usleep(10000);
    NEED(busy == QUEUED && before_other > 0 && before_other < QUEUED / 2);
}

/* A peer of the network, here the program itself over UDP, does not reach a listener of family AF_CONN. */
static void network(void) {
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(BUSY), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sctp_udpencaps encaps = {.sue_port = htons(UDP_PORT)};
    struct socket *client = usrsctp_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
    NEED(client != NULL && SET(client, SCTP_REMOTE_UDP_ENCAPS_PORT, encaps) == 0);
    NEED(usrsctp_connect(client, (struct sockaddr *)&peer, sizeof peer) == -1 && errno == ECONNREFUSED);
    struct socket *listener = usrsctp_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
    peer.sin_port = htons(BUSY + 10);
    NEED(listener != NULL && usrsctp_bind(listener, (struct sockaddr *)&peer, sizeof peer) == 0);
    NEED(usrsctp_listen(listener, 1) == 0);
    NEED(usrsctp_connect(client, (struct sockaddr *)&peer, sizeof peer) == 0);
    usrsctp_close(client), usrsctp_close(listener);
}

/* With an argument, runs the checks that only our library passes. */
int main(int arguments, char **) {
    pthread_t threads[2];
    struct sockaddr_conn ours, theirs;
    union sctp_notification event;
    char data[16];
    struct sctp_recvv_rn info;
    int flags, on = 1;
    NEED(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
    usrsctp_init(arguments > 1 ? UDP_PORT : 0, output, NULL);
    for (int n = 0; n < 2; n++) {
        usrsctp_register_address(&ends[n]);
        NEED(pthread_create(&threads[n], NULL, carry, &ends[n]) == 0);
    }
    if (arguments > 1) {
        turns(), network();
        puts("ok");
        exit(0);
    }
    struct socket *listener = usrsctp_socket(AF_CONN, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
    struct socket *client = usrsctp_socket(AF_CONN, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
    NEED(listener != NULL && client != NULL);
    subscribe(listener), subscribe(client);
    options(listener), options(client);
    NEED(SET(listener, SCTP_RECVRCVINFO, on) == 0 && SET(client, SCTP_RECVRCVINFO, on) == 0);
    NEED(!(usrsctp_get_events(client) & SCTP_EVENT_WRITE));
    ours = at(&ends[0], 5001), theirs = at(&ends[1], 5001);
    NEED(usrsctp_bind(client, (struct sockaddr *)&ours, sizeof ours) == 0);
    NEED(usrsctp_bind(listener, (struct sockaddr *)&theirs, sizeof theirs) == 0);
    NEED(usrsctp_listen(listener, 1) == 0 && usrsctp_get_non_blocking(listener) == 0);
    NEED(usrsctp_connect(client, (struct sockaddr *)&ours, sizeof ours) == 0);
    NEED(usrsctp_get_events(client) & SCTP_EVENT_WRITE);
    struct sockaddr_conn name;
    socklen_t length = sizeof name;
    struct socket *server = usrsctp_accept(listener, (struct sockaddr *)&name, &length);
    NEED(server != NULL);
    expect(client, SCTP_ASSOC_CHANGE, &event);
    NEED(event.sn_assoc_change.sac_state == SCTP_COMM_UP && event.sn_assoc_change.sac_outbound_streams == 12);
    expect(server, SCTP_ASSOC_CHANGE, &event);
    NEED(event.sn_assoc_change.sac_state == SCTP_COMM_UP);
    state(client, &ends[0]), state(server, &ends[1]);
    messages(client, server), messages(server, client);
    NEED(usrsctp_set_non_blocking(server, 1) == 0 && usrsctp_get_non_blocking(server) == 1);
    do NEED(receive(server, data, sizeof data, &info, &flags) > 0 || errno == EWOULDBLOCK);
    while (errno != EWOULDBLOCK);
    NEED(usrsctp_set_non_blocking(server, 0) == 0);
    NEED(usrsctp_shutdown(client, SHUT_WR) == 0);
    expect(server, SCTP_SHUTDOWN_EVENT, &event);
    expect(client, SCTP_ASSOC_CHANGE, &event);
    NEED(event.sn_assoc_change.sac_state == SCTP_SHUTDOWN_COMP);
    NEED(usrsctp_finish() != 0); /* sockets are open */
    usrsctp_close(client), usrsctp_close(server), usrsctp_close(listener);
    many(), closed();
    for (int n = 0; n < 2; n++)
        usrsctp_deregister_address(&ends[n]);
    for (int n = 0; n < 100 && usrsctp_finish() != 0; n++)
        usleep(100000);
    puts("ok");
    exit(0);
}
