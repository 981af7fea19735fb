/*
 * usrsctp over UDP (RFC 6951), told what to do by lines on standard input: the peer of the test in main.rs.
 *
 *   option NAME VALUE                     sets a sysctl, before bind; options() has their names
 *   bind ADDRESS...                       opens the socket
 *   listen | connect ADDRESS              accepts one association, or begins one; waits until it stands
 *   send COUNT LENGTH STREAM UNORDERED POLICY VALUE
 *                                         sends messages, with a policy of PR-SCTP: none, ttl, priority, rtx
 *   add ADDRESS | remove ADDRESS          adds or removes a local address
 *   set-primary ADDRESS                   asks the peer to use this local address
 *   auth-chunk TYPE                       wants chunks of this type authenticated, before the association begins
 *   interleave                            announces I-DATA, before the association begins
 *   allow-reset                           grants what a peer asks by RE-CONFIG
 *   reset in|out STREAM...                resets streams; without a stream all
 *   reset-association | add-streams IN OUT
 *   status                                prints counts
 *   shutdown                              ends the association, when everything is sent
 *   quit                                  ends the program
 *
 * What happens it prints as lines of JSON. Messages begin with their number on their stream, in 4 bytes.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <usrsctp.h>

enum { UDP_PORT = 9899, SCTP_PORT = 5001, STREAMS = 16, BUFFER = 1 << 20, LIMIT = 60, WORDS = 24, LONGEST = 1 << 20 };
/* SCTP_INTERLEAVING_SUPPORTED, which usrsctp.h lacks. */
enum { INTERLEAVING_SUPPORTED = 0x1206 };

static struct socket *s;
static pthread_t receiver;
static uint32_t numbers[STREAMS];
static unsigned send_failures;

static void check(const char *what, int failed) {
    if (failed) {
        perror(what);
        _exit(1);
    }
}

static struct sockaddr_in address(const char *text) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(SCTP_PORT)};
    check("address", inet_pton(AF_INET, text, &a.sin_addr) != 1);
    return a;
}

static void set(const char *what, int option, const void *value, size_t length) {
    check(what, usrsctp_setsockopt(s, IPPROTO_SCTP, option, value, (socklen_t)length));
}

static void set_option(const char *name, uint32_t value) {
    struct {
        const char *name;
        int (*set)(uint32_t);
    } all[] = {
        {"asconf", usrsctp_sysctl_set_sctp_asconf_enable}, {"auth", usrsctp_sysctl_set_sctp_auth_enable},
        {"cmt", usrsctp_sysctl_set_sctp_cmt_on_off},       {"ecn", usrsctp_sysctl_set_sctp_ecn_enable},
        {"nrsack", usrsctp_sysctl_set_sctp_nrsack_enable}, {"pktdrop", usrsctp_sysctl_set_sctp_pktdrop_enable},
        {"pr", usrsctp_sysctl_set_sctp_pr_enable},         {"reconfig", usrsctp_sysctl_set_sctp_reconfig_enable},
        {"nat", usrsctp_sysctl_set_sctp_nat_friendly},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(name, all[i].name) == 0) {
            check(name, all[i].set(value));
            return;
        }
    check(name, 1);
}

static void print_notification(const union sctp_notification *n) {
    switch (n->sn_header.sn_type) {
    case SCTP_ASSOC_CHANGE:
        printf("{\"event\":\"association\",\"state\":%u,\"error\":%u,\"out\":%u,\"in\":%u}\n", n->sn_assoc_change.sac_state,
               n->sn_assoc_change.sac_error, n->sn_assoc_change.sac_outbound_streams, n->sn_assoc_change.sac_inbound_streams);
        break;
    case SCTP_PEER_ADDR_CHANGE: {
        const struct sockaddr_in *a = (const struct sockaddr_in *)&n->sn_paddr_change.spc_aaddr;
        printf("{\"event\":\"address\",\"address\":\"%s\",\"state\":%u}\n", inet_ntoa(a->sin_addr), n->sn_paddr_change.spc_state);
        break;
    }
    case SCTP_SEND_FAILED_EVENT:
        send_failures++;
        break;
    case SCTP_STREAM_RESET_EVENT: {
        const struct sctp_stream_reset_event *e = &n->sn_strreset_event;
        size_t count = (e->strreset_length - sizeof *e) / sizeof e->strreset_stream_list[0];
        printf("{\"event\":\"reset\",\"flags\":%u,\"streams\":[", e->strreset_flags);
        for (size_t i = 0; i < count; i++)
            printf("%s%u", i ? "," : "", e->strreset_stream_list[i]);
        printf("]}\n");
        break;
    }
    case SCTP_ASSOC_RESET_EVENT:
        printf("{\"event\":\"reset-association\",\"flags\":%u}\n", n->sn_assocreset_event.assocreset_flags);
        break;
    case SCTP_STREAM_CHANGE_EVENT:
        printf("{\"event\":\"streams\",\"flags\":%u,\"in\":%u,\"out\":%u}\n", n->sn_strchange_event.strchange_flags,
               n->sn_strchange_event.strchange_instrms, n->sn_strchange_event.strchange_outstrms);
        break;
    case SCTP_PARTIAL_DELIVERY_EVENT:
        printf("{\"event\":\"partial-delivery-aborted\",\"stream\":%u}\n", n->sn_pdapi_event.pdapi_stream);
        break;
    case SCTP_REMOTE_ERROR:
        printf("{\"event\":\"error\",\"cause\":%u}\n", ntohs(n->sn_remote_error.sre_error));
        break;
    default:
        break;
    }
}

/* Prints all messages and notifications of the association until it ends. */
static void *receive_all(void *unused) {
    static unsigned char buffer[LONGEST];
    (void)unused;
    for (;;) {
        struct sctp_rcvinfo info;
        socklen_t info_length = sizeof info;
        unsigned type = 0;
        int flags = 0;
        ssize_t n = usrsctp_recvv(s, buffer, sizeof buffer, NULL, NULL, &info, &info_length, &type, &flags);
        if (n <= 0)
            break;
        if (flags & MSG_NOTIFICATION) {
            print_notification((union sctp_notification *)buffer);
        } else {
            uint32_t number;
            memcpy(&number, buffer, sizeof number);
            printf("{\"event\":\"message\",\"stream\":%u,\"ssn\":%u,\"number\":%u,\"length\":%zd,\"unordered\":%s,\"whole\":%s}\n",
                   info.rcv_sid, info.rcv_ssn, ntohl(number), n, info.rcv_flags & SCTP_UNORDERED ? "true" : "false",
                   flags & MSG_EOR ? "true" : "false");
        }
    }
    puts("{\"event\":\"end\"}");
    return NULL;
}

static void subscribe(void) {
    static const uint16_t types[] = {SCTP_ASSOC_CHANGE,      SCTP_PEER_ADDR_CHANGE,   SCTP_SEND_FAILED_EVENT,
                                     SCTP_STREAM_RESET_EVENT, SCTP_ASSOC_RESET_EVENT, SCTP_STREAM_CHANGE_EVENT,
                                     SCTP_PARTIAL_DELIVERY_EVENT, SCTP_REMOTE_ERROR};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct sctp_event event = {.se_assoc_id = SCTP_FUTURE_ASSOC, .se_type = types[i], .se_on = 1};
        set("SCTP_EVENT", SCTP_EVENT, &event, sizeof event);
    }
}

static void open_socket(char **words, int count) {
    s = usrsctp_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
    check("socket", s == NULL);
    struct sockaddr_in all[WORDS];
    for (int i = 0; i < count; i++)
        all[i] = address(words[i]);
    check("bindx", usrsctp_bindx(s, (struct sockaddr *)all, count, SCTP_BINDX_ADD_ADDR));
    int buffer = BUFFER, on = 1;
    check("SO_SNDBUF", usrsctp_setsockopt(s, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer));
    check("SO_RCVBUF", usrsctp_setsockopt(s, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer));
    struct sctp_initmsg init = {.sinit_num_ostreams = STREAMS, .sinit_max_instreams = STREAMS};
    set("SCTP_INITMSG", SCTP_INITMSG, &init, sizeof init);
    set("SCTP_NODELAY", SCTP_NODELAY, &on, sizeof on);
    set("SCTP_RECVRCVINFO", SCTP_RECVRCVINFO, &on, sizeof on);
    /* A listener needs it, too: addresses that a peer adds later have the port of this socket. */
    struct sctp_udpencaps port = {.sue_address.ss_family = AF_INET, .sue_port = htons(UDP_PORT)};
    set("encapsulation", SCTP_REMOTE_UDP_ENCAPS_PORT, &port, sizeof port);
    subscribe();
}

static void connect_to(const char *text) {
    struct sockaddr_in remote = address(text);
    check("connect", usrsctp_connect(s, (struct sockaddr *)&remote, sizeof remote));
    check("thread", pthread_create(&receiver, NULL, receive_all, NULL));
}

static void send_messages(char **words) {
    static unsigned char message[LONGEST];
    static const char *policies[] = {"none", "ttl", "priority", "rtx"};
    unsigned long count = strtoul(words[0], NULL, 10), length = strtoul(words[1], NULL, 10);
    uint16_t stream = (uint16_t)atoi(words[2]);
    struct sctp_sendv_spa spa = {.sendv_flags = SCTP_SEND_SNDINFO_VALID | SCTP_SEND_PRINFO_VALID};
    spa.sendv_sndinfo.snd_sid = stream;
    spa.sendv_sndinfo.snd_flags = atoi(words[3]) ? SCTP_UNORDERED : 0;
    check("length", length < 4 || length > LONGEST || stream >= STREAMS);
    for (uint16_t policy = 0; policy < 4; policy++)
        if (strcmp(words[4], policies[policy]) == 0)
            spa.sendv_prinfo.pr_policy = policy;
    spa.sendv_prinfo.pr_value = (uint32_t)atoi(words[5]);
    for (unsigned long i = 0; i < count; i++) {
        uint32_t number = htonl(numbers[stream]++);
        memcpy(message, &number, sizeof number);
        check("sendv", usrsctp_sendv(s, message, length, NULL, 0, &spa, sizeof spa, SCTP_SENDV_SPA, 0) < 0);
    }
    printf("{\"event\":\"sent\",\"messages\":%lu}\n", count);
}

static void bind_more(const char *text, int how) {
    struct sockaddr_in a = address(text);
    check("bindx", usrsctp_bindx(s, (struct sockaddr *)&a, 1, how));
}

static void set_primary(const char *text) {
    struct sctp_setpeerprim primary = {0};
    struct sockaddr_in a = address(text);
    memcpy(&primary.sspp_addr, &a, sizeof a);
    set("SCTP_SET_PEER_PRIMARY_ADDR", SCTP_SET_PEER_PRIMARY_ADDR, &primary, sizeof primary);
}

static void reset_streams(char **words, int count) {
    _Alignas(struct sctp_reset_streams) unsigned char space[sizeof(struct sctp_reset_streams) + WORDS * sizeof(uint16_t)] = {0};
    struct sctp_reset_streams *reset = (struct sctp_reset_streams *)space;
    reset->srs_flags = strcmp(words[0], "in") == 0 ? SCTP_STREAM_RESET_INCOMING : SCTP_STREAM_RESET_OUTGOING;
    reset->srs_number_streams = (uint16_t)(count - 1);
    for (int i = 1; i < count; i++)
        reset->srs_stream_list[i - 1] = (uint16_t)atoi(words[i]);
    set("SCTP_RESET_STREAMS", SCTP_RESET_STREAMS, reset, sizeof *reset + (size_t)(count - 1) * sizeof(uint16_t));
}

static void print_status(void) {
    struct sctp_prstatus pr = {.sprstat_policy = SCTP_PR_SCTP_RTX};
    socklen_t length = sizeof pr;
    int known = usrsctp_getsockopt(s, IPPROTO_SCTP, SCTP_PR_ASSOC_STATUS, &pr, &length) == 0;
    struct sctpstat stat;
    usrsctp_get_stat(&stat);
    printf("{\"event\":\"status\",\"abandoned_sent\":%llu,\"send_failures\":%u,\"bad_checksums\":%u,\"aborted\":%u,"
           "\"auth_missing\":%u,\"auth_wrong\":%u,\"drop_reports\":%u,\"drops_marked\":%u}\n",
           known ? (unsigned long long)pr.sprstat_abandoned_sent : 0, send_failures, stat.sctps_badsum, stat.sctps_aborted,
           stat.sctps_recvauthmissing, stat.sctps_recvauthfailed, stat.sctps_pdrpfehos, stat.sctps_pdrpmark);
}

/* Obeys one line. False for the last one. */
static int obey(char **words, int count) {
    const char *what = words[0];
    if (strcmp(what, "option") == 0 && count == 3) {
        set_option(words[1], (uint32_t)atoi(words[2]));
    } else if (strcmp(what, "bind") == 0 && count >= 2) {
        open_socket(words + 1, count - 1);
    } else if (strcmp(what, "listen") == 0) {
        check("listen", usrsctp_listen(s, 1));
        puts("{\"event\":\"listening\"}");
        /* What is told meanwhile waits. */
        s = usrsctp_accept(s, NULL, NULL);
        check("accept", s == NULL);
        check("thread", pthread_create(&receiver, NULL, receive_all, NULL));
    } else if (strcmp(what, "connect") == 0 && count == 2) {
        connect_to(words[1]);
    } else if (strcmp(what, "send") == 0 && count == 7) {
        send_messages(words + 1);
    } else if (strcmp(what, "add") == 0 && count == 2) {
        bind_more(words[1], SCTP_BINDX_ADD_ADDR);
    } else if (strcmp(what, "remove") == 0 && count == 2) {
        bind_more(words[1], SCTP_BINDX_REM_ADDR);
    } else if (strcmp(what, "set-primary") == 0 && count == 2) {
        set_primary(words[1]);
    } else if (strcmp(what, "auth-chunk") == 0 && count == 2) {
        struct sctp_authchunk chunk = {.sauth_chunk = (uint8_t)atoi(words[1])};
        set("SCTP_AUTH_CHUNK", SCTP_AUTH_CHUNK, &chunk, sizeof chunk);
    } else if (strcmp(what, "interleave") == 0) {
        uint32_t level = 2;
        struct sctp_assoc_value value = {.assoc_id = SCTP_FUTURE_ASSOC, .assoc_value = 1};
        set("SCTP_FRAGMENT_INTERLEAVE", SCTP_FRAGMENT_INTERLEAVE, &level, sizeof level);
        set("SCTP_INTERLEAVING_SUPPORTED", INTERLEAVING_SUPPORTED, &value, sizeof value);
    } else if (strcmp(what, "allow-reset") == 0) {
        struct sctp_assoc_value value = {.assoc_id = SCTP_FUTURE_ASSOC, .assoc_value = SCTP_ENABLE_VALUE_MASK};
        set("SCTP_ENABLE_STREAM_RESET", SCTP_ENABLE_STREAM_RESET, &value, sizeof value);
    } else if (strcmp(what, "reset") == 0 && count >= 2) {
        reset_streams(words + 1, count - 1);
    } else if (strcmp(what, "reset-association") == 0) {
        sctp_assoc_t id = 0;
        /* It cannot be asked for while data is outstanding. */
        while (usrsctp_setsockopt(s, IPPROTO_SCTP, SCTP_RESET_ASSOC, &id, sizeof id) != 0) {
            check("SCTP_RESET_ASSOC", errno != EBUSY);
            usleep(5000);
        }
    } else if (strcmp(what, "add-streams") == 0 && count == 3) {
        struct sctp_add_streams more = {.sas_instrms = (uint16_t)atoi(words[1]), .sas_outstrms = (uint16_t)atoi(words[2])};
        set("SCTP_ADD_STREAMS", SCTP_ADD_STREAMS, &more, sizeof more);
    } else if (strcmp(what, "status") == 0) {
        print_status();
    } else if (strcmp(what, "shutdown") == 0) {
        check("shutdown", usrsctp_shutdown(s, SHUT_WR));
    } else if (strcmp(what, "quit") == 0) {
        return 0;
    } else {
        fprintf(stderr, "unknown or incomplete: %s\n", what);
        _exit(1);
    }
    return 1;
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(LIMIT);
    usrsctp_init(UDP_PORT, NULL, NULL);
    usrsctp_sysctl_set_sctp_no_csum_on_loopback(0);
    char line[1000];
    for (int go_on = 1; go_on && fgets(line, sizeof line, stdin) != NULL;) {
        char *words[WORDS];
        int count = 0;
        for (char *word = strtok(line, " \n"); word != NULL && count < WORDS; word = strtok(NULL, " \n"))
            words[count++] = word;
        go_on = count == 0 || obey(words, count);
    }
    /* The association may still be ending; whoever wants it gone waits for its last event before. */
    fflush(stdout);
    _exit(0);
}
