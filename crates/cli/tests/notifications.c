/* Notifications of SCTP sockets (RFC 6458, section 6). */
#include "sockets.h"
#include "raw_peer.h"

static void subscribe(int fd, int type) {
    struct sctp_event event = {.se_type = type, .se_on = 1};
    set(fd, SCTP_EVENT, &event, sizeof event);
}

/* Receives a notification of this type, a long one in parts. Any other message before it is an error. */
static ssize_t next(int fd, int type, void *what, size_t len) {
    ssize_t got = 0;
    do {
        ssize_t more = take(fd, (char *)what + got, len - got);
        NEED(more > 0 && (last_flags & MSG_NOTIFICATION));
        got += more;
    } while (!(last_flags & MSG_EOR));
    NEED(got >= 8);
    union sctp_notification *head = what;
    NEED(head->sn_header.sn_type == type && head->sn_header.sn_length == got);
    return got;
}

static int is_quiet(int fd) {
    struct pollfd ready = {fd, POLLIN, 0};
    return poll(&ready, 1, 200) == 0;
}

/* Notifications have the data and parameters of failed messages: those to a peer that refuses the association, and
 * those that are unsent when an ABORT ends it. */
static void failed(void) {
    static union {
        union sctp_notification what;
        struct sctp_send_failed_event event;
        char bytes[400000];
    } got;
    int many = opened(SOCK_SEQPACKET);
    struct sockaddr_in nobody = at(5999, "127.0.0.1");
    struct sctp_sndinfo usual = {.snd_sid = 2, .snd_flags = SCTP_UNORDERED, .snd_ppid = htonl(5), .snd_context = 77};
    set(many, SCTP_DEFAULT_SNDINFO, &usual, sizeof usual);
    subscribe(many, SCTP_SEND_FAILED_EVENT);
    subscribe(many, SCTP_SEND_FAILED);
    NEED(sendto(many, "hello", 5, 0, (void *)&nobody, sizeof nobody) == 5);
    next(many, SCTP_SEND_FAILED, &got, sizeof got);
    struct sctp_send_failed *old = &got.what.sn_send_failed;
    NEED(old->ssf_flags == SCTP_DATA_UNSENT && old->ssf_length == sizeof *old + 5);
    NEED(old->ssf_info.sinfo_stream == 2 && old->ssf_info.sinfo_ppid == htonl(5));
    /* Linux has the flags of the chunk in place of those of the program, and no number of an association that was
     * never up. */
    int flags = ours_only() ? SCTP_UNORDERED : 7, first_id = ours_only() ? 3 : 0;
    NEED(old->ssf_info.sinfo_flags == flags && old->ssf_info.sinfo_context == 77);
    NEED(old->ssf_assoc_id >= first_id && !memcmp(old->ssf_data, "hello", 5));
    next(many, SCTP_SEND_FAILED_EVENT, &got, sizeof got);
    NEED(got.event.ssf_length == sizeof got.event + 5 && got.event.ssf_assoc_id >= first_id);
    NEED(got.event.ssfe_info.snd_sid == 2 && got.event.ssfe_info.snd_context == 77);
    NEED(got.event.ssfe_info.snd_ppid == htonl(5) && got.event.ssfe_info.snd_flags == flags);
    NEED(!memcmp(got.event.ssf_data, "hello", 5) && is_quiet(many));

    /* The window has room for the first messages only. The last one is longer than a record. */
    enum { MESSAGES = 80, LAST_SIZE = 300000 };
    static char data[LAST_SIZE];
    int listener = server(SOCK_STREAM), small = 20000, client = opened(SOCK_STREAM), accepted;
    NEED(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small) == 0);
    subscribe(client, SCTP_SEND_FAILED_EVENT);
    join(client);
    NEED((accepted = accept(listener, 0, 0)) >= 0);
    for (unsigned n = 1; n <= MESSAGES; n++) {
        struct sctp_sndinfo info = {.snd_context = n};
        set(client, SCTP_DEFAULT_SNDINFO, &info, sizeof info);
        memset(data, 'a' + n % 26, sizeof data);
        ssize_t len = n == MESSAGES ? LAST_SIZE : 10000;
        NEED(send(client, data, len, 0) == len);
        pause_ms(n == 1 ? 200 : 1);
    }
    pause_ms(300);
    struct linger abort = {1, 0};
    NEED(setsockopt(accepted, SOL_SOCKET, SO_LINGER, &abort, sizeof abort) == 0);
    close(accepted);
    unsigned context = 0;
    ssize_t last = 0;
    do {
        ssize_t len = next(client, SCTP_SEND_FAILED_EVENT, &got, sizeof got);
        unsigned told = got.event.ssfe_info.snd_context;
        /* Linux tells of each chunk. */
        NEED(context == 0 ? told > 1 : told == context + 1 || (told == context && !ours_only()));
        context = told;
        for (ssize_t at = sizeof got.event; at < len; at++)
            NEED(got.bytes[at] == (char)('a' + context % 26));
        last += context == MESSAGES ? len - (ssize_t)sizeof got.event : 0;
    } while (last < LAST_SIZE);
    NEED(last == LAST_SIZE);
    NEED(got.event.ssf_flags == SCTP_DATA_UNSENT);
    FAILS(take(client, data, 8), ECONNRESET);
}

/* Sends a message with one control message. */
static ssize_t send_with(int fd, const char *text, int type, const void *what, size_t len) {
    char control[CMSG_SPACE(16)] = {0};
    struct iovec part = {(char *)text, strlen(text)};
    struct msghdr message = {0, 0, &part, 1, control, CMSG_SPACE(len), 0};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    *head = (struct cmsghdr){.cmsg_len = CMSG_LEN(len), .cmsg_level = IPPROTO_SCTP, .cmsg_type = type};
    memcpy(CMSG_DATA(head), what, len);
    return sendmsg(fd, &message, 0);
}

/* Lifetimes come from a control message or from the default. A control message without
 * a policy makes its message reliable. */
static void lifetimes(void) {
    enum { SIZE = 300000 };
    static char data[SIZE];
    union {
        union sctp_notification what;
        struct sctp_send_failed_event event;
        char bytes[64];
    } got;
    int listener = server(SOCK_STREAM), small = 20000, client = opened(SOCK_STREAM), accepted;
    struct sctp_assoc_value on = {.assoc_value = 1};
    NEED(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small) == 0);
    set(listener, SCTP_PR_SUPPORTED, &on, sizeof on);
    set(client, SCTP_PR_SUPPORTED, &on, sizeof on);
    subscribe(client, SCTP_SEND_FAILED_EVENT);
    join(client);
    NEED((accepted = accept(listener, 0, 0)) >= 0);
    for (int n = 0; n < 3; n++)
        NEED(send(client, data, SIZE, 0) == SIZE);
    struct sctp_prinfo brief = {.pr_policy = SCTP_PR_SCTP_TTL, .pr_value = 50}, reliable = {0};
    NEED(send_with(client, "1", SCTP_PRINFO, &brief, sizeof brief) == 1);
    struct sctp_default_prinfo usual = {.pr_value = 50, .pr_policy = SCTP_PR_SCTP_TTL};
    set(client, SCTP_DEFAULT_PRINFO, &usual, sizeof usual);
    struct sctp_default_prinfo read = {0};
    socklen_t len = sizeof read;
    NEED(getsockopt(client, IPPROTO_SCTP, SCTP_DEFAULT_PRINFO, &read, &len) == 0);
    NEED(read.pr_value == 50 && read.pr_policy == SCTP_PR_SCTP_TTL);
    NEED(send(client, "2", 1, 0) == 1);
    NEED(send_with(client, "3", SCTP_PRINFO, &reliable, sizeof reliable) == 1);
    /* The stack authenticates packets, not messages: a message can only name the active key, 0. */
    uint16_t key = 0;
    NEED(send_with(client, "4", SCTP_AUTHINFO, &key, sizeof key) == 1);
    key = 9;
    if (ours_only())
        FAILS(send_with(client, "5", SCTP_AUTHINFO, &key, sizeof key), EINVAL);
    pause_ms(300);
    for (size_t all = 0; all < 3 * SIZE;) {
        ssize_t more = take(accepted, data, SIZE);
        NEED(more > 0);
        all += more;
    }
    NEED(take(accepted, data, SIZE) == 1 && *data == '3');
    for (const char *lost = "124"; *lost; lost++) {
        NEED(next(client, SCTP_SEND_FAILED_EVENT, &got, sizeof got) == sizeof got.event + 1);
        NEED(got.bytes[sizeof got.event] == *lost);
    }
    NEED(is_quiet(accepted) && is_quiet(client));
}

/* SCTP_SENDER_DRY_EVENT comes at the subscription if nothing is outstanding, and each time all is acknowledged. */
static void dry(void) {
    int listener = server(SOCK_STREAM), small = 20000, client = opened(SOCK_STREAM), accepted;
    union sctp_notification what;
    static char data[200000];
    NEED(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small) == 0);
    join(client);
    NEED((accepted = accept(listener, 0, 0)) >= 0);
    subscribe(client, SCTP_SENDER_DRY_EVENT);
    NEED(next(client, SCTP_SENDER_DRY_EVENT, &what, sizeof what) == sizeof what.sn_sender_dry_event);
    NEED(what.sn_sender_dry_event.sender_dry_assoc_id > 2 && is_quiet(client));
    subscribe(client, SCTP_SHUTDOWN_EVENT);
    NEED(is_quiet(client));
    NEED(send(client, "x", 1, 0) == 1);
    next(client, SCTP_SENDER_DRY_EVENT, &what, sizeof what);
    NEED(send(client, data, sizeof data, 0) == sizeof data);
    NEED(is_quiet(client));
    for (size_t all = 0; all < 1 + sizeof data;) {
        ssize_t got = take(accepted, data, sizeof data);
        NEED(got > 0);
        all += got;
    }
    next(client, SCTP_SENDER_DRY_EVENT, &what, sizeof what);
    NEED(is_quiet(client));
    /* A shutdown without data sends nothing that the peer could acknowledge. */
    struct sockaddr_in to = at(PORT, "127.0.0.1");
    int many = opened(SOCK_SEQPACKET);
    subscribe(many, SCTP_SENDER_DRY_EVENT);
    NEED(sendto(many, "x", 1, 0, (void *)&to, sizeof to) == 1);
    next(many, SCTP_SENDER_DRY_EVENT, &what, sizeof what);
    NEED(post_with(many, "", 0, (struct sctp_sndinfo){.snd_flags = SCTP_EOF}, &to) == 0);
    NEED(is_quiet(many));
}

static void remote_error(void) {
    int listener = server(SOCK_SEQPACKET);
    union {
        union sctp_notification what;
        char bytes[64];
    } got;
    subscribe(listener, SCTP_REMOTE_ERROR);
    struct raw_peer peer = raw_peer(6001);
    /* An ERROR chunk about unrecognized chunks of types 0x3f and 0x3e. */
    static const unsigned char error[] = {9, 0, 0, 20, 0, 6, 0, 8, 0x3f, 0, 0, 4, 0, 6, 0, 8, 0x3e, 0, 0, 4};
    raw_send(&peer, error, sizeof error);
    for (int n = 0; n < 2; n++) {
        ssize_t len = next(listener, SCTP_REMOTE_ERROR, &got, sizeof got);
        struct sctp_remote_error *told = &got.what.sn_remote_error;
        NEED(told->sre_error == htons(6) && told->sre_assoc_id > 2);
        NEED(len == sizeof *told + 4 && !memcmp(told->sre_data, error + 8 * (n + 1), 4));
    }
}

static void adaptation(void) {
    int client = opened(SOCK_STREAM), listener = server(SOCK_STREAM), accepted, code = 0;
    socklen_t len = sizeof code;
    union sctp_notification what;
    set_int(client, SCTP_ADAPTATION_LAYER, 0x1234);
    set_int(listener, SCTP_ADAPTATION_LAYER, 0x5678);
    NEED(getsockopt(client, IPPROTO_SCTP, SCTP_ADAPTATION_LAYER, &code, &len) == 0 && code == 0x1234);
    subscribe(client, SCTP_ADAPTATION_INDICATION);
    subscribe(client, SCTP_ASSOC_CHANGE);
    subscribe(listener, SCTP_ADAPTATION_INDICATION);
    join(client);
    NEED((accepted = accept(listener, 0, 0)) >= 0);
    next(client, SCTP_ASSOC_CHANGE, &what, sizeof what);
    next(client, SCTP_ADAPTATION_INDICATION, &what, sizeof what);
    NEED(what.sn_adaptation_event.sai_adaptation_ind == 0x5678);
    NEED(what.sn_adaptation_event.sai_assoc_id == last_id || last_id == 0);
    next(accepted, SCTP_ADAPTATION_INDICATION, &what, sizeof what);
    NEED(what.sn_adaptation_event.sai_adaptation_ind == 0x1234);
    close(listener), close(client), close(accepted);
    pause_ms(200);

    listener = server(SOCK_SEQPACKET);
    subscribe(listener, SCTP_ADAPTATION_INDICATION);
    subscribe(listener, SCTP_AUTHENTICATION_EVENT);
    raw_peer(6001);
    /* The peer does not have AUTH. Linux tells of that last. */
    for (int n = 0; n < 2; n++) {
        if (n == !ours_only()) {
            next(listener, SCTP_AUTHENTICATION_EVENT, &what, sizeof what);
            NEED(what.sn_authkey_event.auth_indication == SCTP_AUTH_NO_AUTH);
        } else {
            next(listener, SCTP_ADAPTATION_INDICATION, &what, sizeof what);
            NEED(what.sn_adaptation_event.sai_adaptation_ind == 0xabcd);
        }
    }
}

static void give_key(int fd, int number, int id) {
    char value[64] = {0};
    struct sctp_authkey *key = (void *)value;
    *key = (struct sctp_authkey){.sca_assoc_id = id, .sca_keynumber = number, .sca_keylength = 6};
    memcpy(key->sca_key, "secret", 6);
    set(fd, SCTP_AUTH_KEY, key, sizeof *key + 6);
}

static void told_key(int fd, int number, int indication) {
    union sctp_notification what;
    next(fd, SCTP_AUTHENTICATION_EVENT, &what, sizeof what);
    NEED(what.sn_authkey_event.auth_keynumber == number && what.sn_authkey_event.auth_altkeynumber == 0);
    NEED(what.sn_authkey_event.auth_indication == (unsigned)indication);
    NEED(what.sn_authkey_event.auth_assoc_id > 2);
}

/* Notifications that the peer uses a new key, and that no outstanding chunk uses an old one. */
static void keys(void) {
    int client = opened(SOCK_STREAM), listener = server(SOCK_STREAM), accepted;
    struct sctp_authchunk data_chunk = {.sauth_chunk = 0};
    struct sctp_authkeyid key = {.scact_keynumber = 1};
    char data[8];
    for (int n = 1; n <= 2; n++)
        give_key(client, n, 0), give_key(listener, n, 0);
    for (int n = 0; n < 2; n++) {
        int fd = n ? client : listener;
        set(fd, SCTP_AUTH_CHUNK, &data_chunk, sizeof data_chunk);
        set(fd, SCTP_AUTH_ACTIVE_KEY, &key, sizeof key);
    }
    join(client);
    NEED((accepted = accept(listener, 0, 0)) >= 0);
    NEED(send(client, "x", 1, 0) == 1 && take(accepted, data, 8) == 1);
    subscribe(client, SCTP_AUTHENTICATION_EVENT);
    subscribe(accepted, SCTP_AUTHENTICATION_EVENT);
    key.scact_keynumber = 2;
    set(client, SCTP_AUTH_ACTIVE_KEY, &key, sizeof key);
    NEED(is_quiet(accepted));
    NEED(send(client, "y", 1, 0) == 1);
    /* The notification of the new key comes before the data of its packet. */
    told_key(accepted, 2, SCTP_AUTH_NEW_KEY);
    NEED(take(accepted, data, 8) == 1 && data[0] == 'y');
    key.scact_keynumber = 1;
    set(client, SCTP_AUTH_DEACTIVATE_KEY, &key, sizeof key);
    told_key(client, 1, SCTP_AUTH_FREE_KEY);
    NEED(is_quiet(client) && is_quiet(accepted));
}

/* Partial delivery: the rest of the message arrives, or the peer abandons the message. */
static void parts(void) {
    int listener = server(SOCK_SEQPACKET), point = 0;
    unsigned char data[8000];
    socklen_t len = sizeof point;
    union sctp_notification what;
    set_int(listener, SCTP_PARTIAL_DELIVERY_POINT, 2000);
    NEED(getsockopt(listener, IPPROTO_SCTP, SCTP_PARTIAL_DELIVERY_POINT, &point, &len) == 0 && point == 2000);
    subscribe(listener, SCTP_PARTIAL_DELIVERY_EVENT);
    struct raw_peer peer = raw_peer(6001);
    raw_data(&peer, FIRST, 0);
    NEED(is_quiet(listener));
    raw_data(&peer, 0, 0);
    NEED(take(listener, data, sizeof data) == 2000 && !(last_flags & MSG_EOR) && data[1999] == data[0] + 1);
    raw_data(&peer, LAST, 0);
    NEED(take(listener, data, sizeof data) == 1000 && (last_flags & MSG_EOR));
    raw_data(&peer, FIRST, 1);
    raw_data(&peer, 0, 1);
    NEED(take(listener, data, sizeof data) == 2000 && !(last_flags & MSG_EOR));
    /* FORWARD TSN: the rest does not come. */
    const unsigned char skip[] = {0xc0, 0, 0, 12, 0, 0, 0, peer.tsn, 0, 0, 0, 1};
    raw_send(&peer, skip, sizeof skip);
    next(listener, SCTP_PARTIAL_DELIVERY_EVENT, &what, sizeof what);
    NEED(what.sn_pdapi_event.pdapi_indication == SCTP_PARTIAL_DELIVERY_ABORTED);
    peer.tsn++;
    raw_data(&peer, FIRST | LAST, 2);
    NEED(take(listener, data, sizeof data) == 1000 && (last_flags & MSG_EOR));

    /* Without a partial delivery point a message is delivered once it is complete. */
    set_int(listener, SCTP_PARTIAL_DELIVERY_POINT, 0);
    close(peer.fd);
    close(listener);
    pause_ms(200);
    listener = server(SOCK_SEQPACKET);
    peer = raw_peer(6002);
    raw_data(&peer, FIRST, 0);
    raw_data(&peer, 0, 0);
    raw_data(&peer, 0, 0);
    NEED(is_quiet(listener));
    raw_data(&peer, LAST, 0);
    NEED(take(listener, data, sizeof data) == 4000 && (last_flags & MSG_EOR));
}

/* An address that answers for the first time is confirmed. */
static void confirmed(void) {
    int client = opened(SOCK_STREAM), listener = opened(SOCK_STREAM);
    struct sockaddr_in both[2] = {at(PORT, "127.0.0.1"), at(PORT, "127.0.0.2")};
    union sctp_notification what;
    set(listener, SCTP_SOCKOPT_BINDX_ADD, both, sizeof both);
    NEED(listen(listener, 5) == 0);
    subscribe(client, SCTP_PEER_ADDR_CHANGE);
    join(client);
    next(client, SCTP_PEER_ADDR_CHANGE, &what, sizeof what);
    NEED(what.sn_paddr_change.spc_state == SCTP_ADDR_CONFIRMED);
    NEED(!memcmp(&what.sn_paddr_change.spc_aaddr, &both[1], sizeof both[1]) && is_quiet(client));
}

/* A peer that has restarted: the program is told, and its socket goes on with the same association. */
static void restarted(void) {
    static const int styles[] = {SOCK_SEQPACKET, SOCK_STREAM};
    for (int n = 0; n < 2; n++) {
        int listener = server(styles[n]), fd = listener;
        struct sctp_assoc_change change;
        unsigned char data[1500];
        subscribe(listener, SCTP_ASSOC_CHANGE);
        struct raw_peer peer = raw_peer(6001);
        NEED(styles[n] == SOCK_SEQPACKET || (fd = accept(listener, 0, 0)) >= 0);
        next(fd, SCTP_ASSOC_CHANGE, &change, sizeof change);
        NEED(change.sac_state == SCTP_COMM_UP);
        sctp_assoc_t id = change.sac_assoc_id;
        for (int turn = 0; turn < 2; turn++) {
            raw_data(&peer, FIRST | LAST, 0);
            NEED(take(fd, data, sizeof data) == 1000);
            raw_connect(&peer);
            next(fd, SCTP_ASSOC_CHANGE, &change, sizeof change);
            NEED(change.sac_state == SCTP_RESTART && change.sac_assoc_id == id);
        }
        raw_data(&peer, FIRST | LAST, 0);
        NEED(take(fd, data, sizeof data) == 1000);
        close(peer.fd);
        struct linger abort = {1, 0};
        NEED(setsockopt(fd, SOL_SOCKET, SO_LINGER, &abort, sizeof abort) == 0);
        close(fd), close(listener);
        pause_ms(200);
    }
}

int main(int count, char **names) {
    static const struct check checks[] = {{"failed", failed},         {"dry", dry},   {"remote_error", remote_error},
                                          {"adaptation", adaptation}, {"keys", keys}, {"parts", parts},
                                          {"lifetimes", lifetimes},   {"restarted", restarted}, {"confirmed", confirmed}};
    return run(count, names, checks, sizeof checks / sizeof *checks);
}
