/* Socket options by the preloaded library: what is set is read again, and what cannot work is refused. */
#include "sockets.h"
#include <netinet/tcp.h>

static void options(void) {
    int fd = opened(SOCK_STREAM);
    struct sctp_assoc_value value = {.assoc_value = 4};
    socklen_t len = sizeof value;
    if (!ours_only())
        return;
    set(fd, 0x1200, &value, sizeof value);
    value.assoc_value = 0;
    NEED(getsockopt(fd, IPPROTO_SCTP, 0x1200, &value, &len) == 0 && value.assoc_value == 4);
    struct {
        int id;
        unsigned short name, text;
        char bytes[16];
    } named = {0, 10, 5, "sack_delay40 ms"}, wrong = {0, 10, 3, "sack_delai1 s"};
    set(fd, 0x1300, &named, sizeof named);
    FAILS(setsockopt(fd, IPPROTO_SCTP, 0x1300, &wrong, sizeof wrong), EINVAL);
    struct sctp_sack_info sack = {0};
    len = sizeof sack;
    NEED(getsockopt(fd, IPPROTO_SCTP, SCTP_DELAYED_SACK, &sack, &len) == 0 && sack.sack_delay == 40);
}

static void thresholds(void) {
    int fd = opened(SOCK_STREAM);
    struct sctp_paddrthlds first = {.spt_pathmaxrxt = 7, .spt_pathpfthld = 2};
    struct sctp_paddrthlds_v2 second = {.spt_pathmaxrxt = 0, .spt_pathpfthld = 3, .spt_pathcpthld = 4}, kept = {0};
    socklen_t len = sizeof kept;
    set(fd, SCTP_PEER_ADDR_THLDS, &first, sizeof first);
    NEED(getsockopt(fd, IPPROTO_SCTP, SCTP_PEER_ADDR_THLDS_V2, &kept, &len) == 0 && len == sizeof kept);
    NEED(kept.spt_pathmaxrxt == 7 && kept.spt_pathpfthld == 2 && kept.spt_pathcpthld == 0xffff);
    set(fd, SCTP_PEER_ADDR_THLDS_V2, &second, sizeof second);
    second.spt_pathcpthld = 2;
    FAILS(setsockopt(fd, IPPROTO_SCTP, SCTP_PEER_ADDR_THLDS_V2, &second, sizeof second), EINVAL);
    NEED(getsockopt(fd, IPPROTO_SCTP, SCTP_PEER_ADDR_THLDS_V2, &kept, &len) == 0);
    NEED(kept.spt_pathmaxrxt == 7 && kept.spt_pathpfthld == 3 && kept.spt_pathcpthld == 4);
    /* As many errors as make a path inactive: it is never potentially failed. Linux returns the number itself. */
    first.spt_pathpfthld = 7;
    second.spt_pathpfthld = 7, second.spt_pathcpthld = 0xffff;
    set(fd, SCTP_PEER_ADDR_THLDS_V2, &second, sizeof second);
    len = sizeof first;
    NEED(getsockopt(fd, IPPROTO_SCTP, SCTP_PEER_ADDR_THLDS, &first, &len) == 0);
    NEED(first.spt_pathpfthld == (ours_only() ? 0xffff : 7));
}

static void hmacs(void) {
    struct {
        unsigned count;
        unsigned short ids[4];
    } list = {2, {SCTP_AUTH_HMAC_ID_SHA1, SCTP_AUTH_HMAC_ID_SHA256}}, kept;
    struct sctp_assoc_value on = {.assoc_value = 0};
    int fd = opened(SOCK_STREAM);
    socklen_t len = sizeof kept;
    set(fd, SCTP_HMAC_IDENT, &list, 8);
    NEED(getsockopt(fd, IPPROTO_SCTP, SCTP_HMAC_IDENT, &kept, &len) == 0 && len == 8);
    NEED(kept.count == 2 && !memcmp(kept.ids, list.ids, 4));
    list.count = 1;
    set(fd, SCTP_HMAC_IDENT, &list, 6);
    len = sizeof kept;
    NEED(getsockopt(fd, IPPROTO_SCTP, SCTP_HMAC_IDENT, &kept, &len) == 0 && len == 6 && kept.count == 1);
    /* Longer than what was given, no SHA-1, and an unknown algorithm. */
    list.count = 3;
    FAILS(setsockopt(fd, IPPROTO_SCTP, SCTP_HMAC_IDENT, &list, 8), EINVAL);
    list.count = 1, list.ids[0] = SCTP_AUTH_HMAC_ID_SHA256;
    FAILS(setsockopt(fd, IPPROTO_SCTP, SCTP_HMAC_IDENT, &list, 6), EINVAL);
    list.ids[0] = 2;
    FAILS(setsockopt(fd, IPPROTO_SCTP, SCTP_HMAC_IDENT, &list, 6), EOPNOTSUPP);
    len = sizeof kept;
    NEED(getsockopt(fd, IPPROTO_SCTP, SCTP_HMAC_IDENT, &kept, &len) == 0 && kept.ids[0] == 1);
    set(fd, SCTP_ASCONF_SUPPORTED, &on, sizeof on);
    set(fd, SCTP_AUTH_SUPPORTED, &on, sizeof on);
    FAILS(setsockopt(fd, IPPROTO_SCTP, SCTP_HMAC_IDENT, &list, 6), EACCES);
}

/* Path MTU discovery is on, and an interval of 0 turns it off. */
static void probing(void) {
    int client = opened(SOCK_STREAM), listener = server(SOCK_STREAM);
    struct sctp_probeinterval probe = {.spi_interval = 99}, wrong = {.spi_interval = 4999};
    struct sctp_status status = {0};
    socklen_t len = sizeof probe;
    NEED(getsockopt(client, IPPROTO_SCTP, SCTP_PLPMTUD_PROBE_INTERVAL, &probe, &len) == 0);
    NEED(len == sizeof probe && (probe.spi_interval >= 5000 || !ours_only()));
    FAILS(setsockopt(client, IPPROTO_SCTP, SCTP_PLPMTUD_PROBE_INTERVAL, &wrong, sizeof wrong), EINVAL);
    for (int n = 0; n < 2; n++) {
        probe.spi_interval = n * 7000;
        set(client, SCTP_PLPMTUD_PROBE_INTERVAL, &probe, sizeof probe);
        probe.spi_interval = 99;
        NEED(getsockopt(client, IPPROTO_SCTP, SCTP_PLPMTUD_PROBE_INTERVAL, &probe, &len) == 0);
        NEED(probe.spi_interval == n * 7000u);
    }
    probe.spi_interval = 0;
    set(client, SCTP_PLPMTUD_PROBE_INTERVAL, &probe, sizeof probe);
    join(client);
    /* Without probes the first packets are as long as the interface allows; the host process keeps to 1500. */
    len = sizeof status;
    NEED(getsockopt(client, IPPROTO_SCTP, SCTP_STATUS, &status, &len) == 0);
    NEED(status.sstat_fragmentation_point == 1500 - 20 - 8 - 12 - 16 || !ours_only());
    close(listener);
}

/* The primary address, and the switch of one notification, are read as they were set. */
static void answers(void) {
    int client = opened(SOCK_STREAM), listener = opened(SOCK_STREAM);
    struct sockaddr_in both[2] = {at(PORT, "127.0.0.1"), at(PORT, "127.0.0.2")};
    struct sctp_event event = {.se_type = SCTP_SHUTDOWN_EVENT}, none = {.se_type = 0x7fff};
    struct sctp_prim primary = {0};
    socklen_t len = sizeof event;
    for (event.se_on = 0; event.se_on < 2; event.se_on++) {
        struct sctp_event kept = {.se_type = SCTP_SHUTDOWN_EVENT, .se_on = 9};
        set(client, SCTP_EVENT, &event, sizeof event);
        NEED(getsockopt(client, IPPROTO_SCTP, SCTP_EVENT, &kept, &len) == 0 && len == sizeof kept);
        NEED(kept.se_type == SCTP_SHUTDOWN_EVENT && kept.se_on == event.se_on);
    }
    FAILS(getsockopt(client, IPPROTO_SCTP, SCTP_EVENT, &none, &len), EINVAL);
    len = sizeof primary;
    FAILS(getsockopt(client, IPPROTO_SCTP, SCTP_PRIMARY_ADDR, &primary, &len), EINVAL);
    set(listener, SCTP_SOCKOPT_BINDX_ADD, both, sizeof both);
    NEED(listen(listener, 5) == 0);
    NEED(setsockopt(client, IPPROTO_SCTP, SCTP_SOCKOPT_CONNECTX, both, sizeof both) > 0);
    pause_ms(300);
    /* A program that gets ENOMEM tries a larger buffer. */
    char addresses[8 + sizeof both];
    len = sizeof addresses - 1;
    FAILS(getsockopt(client, IPPROTO_SCTP, SCTP_GET_PEER_ADDRS, addresses, &len), ENOMEM);
    len = sizeof addresses;
    NEED(getsockopt(client, IPPROTO_SCTP, SCTP_GET_PEER_ADDRS, addresses, &len) == 0 && len == sizeof addresses);
    len = 8;
    FAILS(getsockopt(listener, IPPROTO_SCTP, SCTP_GET_LOCAL_ADDRS, memset(addresses, 0, 8), &len), ENOMEM);
    len = sizeof primary;
    for (int n = 1; n >= 0; n--) {
        memcpy(&primary.ssp_addr, &both[n], sizeof both[n]);
        set(client, SCTP_PRIMARY_ADDR, &primary, sizeof primary);
        memset(&primary, 0, sizeof primary);
        NEED(getsockopt(client, IPPROTO_SCTP, SCTP_PRIMARY_ADDR, &primary, &len) == 0);
        NEED(len == sizeof primary && !memcmp(&primary.ssp_addr, &both[n], sizeof both[n]));
    }
}

/* No process uses UDP port 9; the host process uses 9899. */
static void udp_port(void) {
    int client = opened(SOCK_STREAM), listener = server(SOCK_STREAM);
    struct sctp_udpencaps peer = {.sue_port = htons(9)};
    struct sockaddr_in address = at(PORT, "127.0.0.1");
    socklen_t len = sizeof peer;
    set(client, SCTP_REMOTE_UDP_ENCAPS_PORT, &peer, sizeof peer);
    if (ours_only()) /* Linux takes no notice of a closed UDP port. */
        FAILS(connect(client, (void *)&address, sizeof address), ECONNREFUSED);
    peer.sue_port = htons(9899);
    set(client, SCTP_REMOTE_UDP_ENCAPS_PORT, &peer, sizeof peer);
    join(client);
    peer.sue_port = 0;
    NEED(getsockopt(client, IPPROTO_SCTP, SCTP_REMOTE_UDP_ENCAPS_PORT, &peer, &len) == 0);
    NEED(len == sizeof peer && peer.sue_port == htons(9899));
    /* The host process uses UDP, so it refuses port 0, which means plain IP. */
    peer.sue_port = 0;
    if (ours_only())
        FAILS(setsockopt(client, IPPROTO_SCTP, SCTP_REMOTE_UDP_ENCAPS_PORT, &peer, sizeof peer), EINVAL);
    close(listener);
}

/* sctp_connectx of libsctp: the association is known although the call does not wait. */
static void connectx(void) {
    int listener = server(SOCK_SEQPACKET), client = opened(SOCK_SEQPACKET | SOCK_NONBLOCK);
    struct sockaddr_in to = at(PORT, "127.0.0.1");
    struct sctp_getaddrs_old given = {.addr_num = sizeof to, .addrs = (void *)&to};
    struct sctp_status status = {0};
    socklen_t len = sizeof given;
    FAILS(getsockopt(client, IPPROTO_SCTP, SCTP_SOCKOPT_CONNECTX3, &given, &len), EINPROGRESS);
    NEED(len == sizeof given.assoc_id && given.assoc_id > 0);
    pause_ms(300);
    len = sizeof status;
    status.sstat_assoc_id = given.assoc_id;
    NEED(getsockopt(client, IPPROTO_SCTP, SCTP_STATUS, &status, &len) == 0);
    NEED(status.sstat_state == SCTP_ESTABLISHED);
    /* A socket that was given too many addresses does not connect. */
    char many[5000] = {0};
    struct pollfd ready = {.fd = opened(SOCK_STREAM), .events = POLLOUT};
    FAILS(setsockopt(ready.fd, IPPROTO_SCTP, SCTP_SOCKOPT_CONNECTX, many, sizeof many), EINVAL);
    NEED(poll(&ready, 1, 0) == ours_only()); /* Without an association, no socket of Linux is writable. */
    close(listener);
}

static struct sctp_paddrparams path_params(int fd) {
    struct sctp_paddrparams params = {0};
    socklen_t len = sizeof params;
    NEED(getsockopt(fd, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &params, &len) == 0 && len == sizeof params);
    return params;
}

/* A program that reads the parameters of paths, changes some, and sets all, changes only these. */
static void paths(void) {
    int fd = opened(SOCK_STREAM);
    struct sctp_sack_info sack;
    socklen_t len = sizeof sack;
    struct sctp_paddrparams before = path_params(fd), after = before, wrong = {.spp_flags = SPP_PMTUD};
    NEED(before.spp_flags == (SPP_HB_ENABLE | SPP_PMTUD_ENABLE | SPP_SACKDELAY_ENABLE));
    after.spp_hbinterval = 7000, after.spp_sackdelay = 300, after.spp_pathmaxrxt = 3;
    set(fd, SCTP_PEER_ADDR_PARAMS, &after, sizeof after);
    struct sctp_paddrparams now = path_params(fd);
    NEED(now.spp_hbinterval == 7000 && now.spp_sackdelay == 300 && now.spp_pathmaxrxt == 3);
    NEED(now.spp_flags == before.spp_flags);
    after.spp_flags = SPP_HB_DISABLE | SPP_PMTUD_DISABLE | SPP_SACKDELAY_DISABLE;
    set(fd, SCTP_PEER_ADDR_PARAMS, &after, sizeof after);
    NEED(path_params(fd).spp_flags == after.spp_flags);
    FAILS(setsockopt(fd, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &wrong, sizeof wrong), EINVAL);
    set(fd, SCTP_PEER_ADDR_PARAMS, &before, sizeof before);
    NEED(path_params(fd).spp_flags == before.spp_flags);
    /* The older structure of SCTP_DELAYED_SACK: 0 turns delayed SACKs off. */
    struct sctp_assoc_value off = {0};
    set(fd, SCTP_DELAYED_SACK, &off, sizeof off);
    NEED(getsockopt(fd, IPPROTO_SCTP, SCTP_DELAYED_SACK, &sack, &len) == 0 && sack.sack_freq == 1);
}

/* While the peer does not read: chunks that are not acknowledged, messages that wait, and its window. */
static void queues(void) {
    int client = opened(SOCK_STREAM), listener = server(SOCK_STREAM), small = 20000, large = 1 << 20;
    static char data[5000];
    struct sctp_status status = {0};
    struct sctp_assocparams params = {0};
    socklen_t len = sizeof status;
    NEED(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small) == 0);
    NEED(setsockopt(client, SOL_SOCKET, SO_SNDBUF, &large, sizeof large) == 0);
    join(client);
    NEED(accept(listener, 0, 0) >= 0);
    NEED(getsockopt(client, IPPROTO_SCTP, SCTP_STATUS, &status, &len) == 0);
    NEED(status.sstat_unackdata == 0 && status.sstat_penddata == 0);
    len = sizeof params;
    NEED(getsockopt(client, IPPROTO_SCTP, SCTP_ASSOCINFO, &params, &len) == 0);
    NEED(params.sasoc_number_peer_destinations >= 1 && params.sasoc_peer_rwnd == 20000);
    for (int n = 0; n < 100; n++)
        NEED(send(client, data, sizeof data, 0) == sizeof data);
    pause_ms(300);
    len = sizeof status;
    NEED(getsockopt(client, IPPROTO_SCTP, SCTP_STATUS, &status, &len) == 0);
    NEED(status.sstat_unackdata > 0 && (!ours_only() || status.sstat_penddata > 10));
    NEED(getsockopt(client, IPPROTO_SCTP, SCTP_ASSOCINFO, &params, &len) == 0 && params.sasoc_peer_rwnd < 20000);
}

/* Options of IP and TCP. TCP_NODELAY, which programs of --tcp-as-sctp set, is SCTP_NODELAY; the kernel has no
   TCP_NODELAY of SCTP sockets. */
static void levels(void) {
    static const struct {
        int family, level, name, on;
    } off[] = {{AF_INET, IPPROTO_IP, IP_TOS, 0x10},
               {AF_INET6, IPPROTO_IPV6, IPV6_V6ONLY, 1},
               {AF_INET, IPPROTO_TCP, TCP_NODELAY, 1}};
    int value = 9;
    socklen_t len = sizeof value;
    for (unsigned n = 0; n < sizeof off / sizeof *off; n++) {
        int client = socket(off[n].family, SOCK_STREAM, IPPROTO_SCTP);
        FAILS(setsockopt(client, -1, 1, &value, sizeof value), ENOPROTOOPT);
        FAILS(getsockopt(client, -1, 1, &value, &len), off[n].family == AF_INET ? EOPNOTSUPP : ENOPROTOOPT);
        if (off[n].level == IPPROTO_TCP && !ours_only())
            continue;
        NEED(getsockopt(client, off[n].level, off[n].name, &value, &len) == 0 && value == 0);
        NEED(setsockopt(client, off[n].level, off[n].name, &off[n].on, sizeof value) == 0);
        NEED(getsockopt(client, off[n].level, off[n].name, &value, &len) == 0 && value == off[n].on);
        NEED(getsockopt(client, IPPROTO_SCTP, SCTP_NODELAY, &value, &len) == 0);
        NEED(value == (off[n].level == IPPROTO_TCP));
    }
}

/* An option of a one-to-many socket that names an association which does not exist. */
static void numbers(void) {
    int many = opened(SOCK_SEQPACKET);
    struct sctp_paddrparams params = {.spp_assoc_id = 1234};
    struct sctp_rtoinfo rto = {.srto_assoc_id = 1234};
    struct sctp_sndinfo usual = {.snd_assoc_id = 1234};
    struct sctp_initmsg init = {1234, 1234, 1234, 1234};
    socklen_t len = sizeof rto;
    FAILS(setsockopt(many, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &params, sizeof params), EINVAL);
    FAILS(getsockopt(many, IPPROTO_SCTP, SCTP_RTOINFO, &rto, &len), EINVAL);
    FAILS(setsockopt(many, IPPROTO_SCTP, SCTP_DEFAULT_SNDINFO, &usual, sizeof usual), EINVAL);
    len = sizeof init;
    NEED(getsockopt(many, IPPROTO_SCTP, SCTP_INITMSG, &init, &len) == 0);
    /* Some options can be set for all associations, but none can be read for all. */
    struct sctp_assoc_value context = {0};
    for (int id = SCTP_FUTURE_ASSOC; id <= SCTP_ALL_ASSOC; id++) {
        rto.srto_assoc_id = context.assoc_id = id;
        set(many, SCTP_CONTEXT, &context, sizeof context);
        len = sizeof context;
        int got = getsockopt(many, IPPROTO_SCTP, SCTP_CONTEXT, &context, &len);
        int done = setsockopt(many, IPPROTO_SCTP, SCTP_RTOINFO, &rto, sizeof rto);
        NEED(id == SCTP_FUTURE_ASSOC ? got == 0 && done == 0 : got == -1 && done == -1 && errno == EINVAL);
    }
}

/* The policy of PR-SCTP for all messages is read by the older structure, too, but not set. That sets a
   lifetime. */
static void policies(void) {
    int fd = opened(SOCK_STREAM);
    struct sctp_sndrcvinfo usual = {.sinfo_timetolive = 9}, kept = {0};
    struct sctp_default_prinfo policy = {.pr_policy = SCTP_PR_SCTP_RTX, .pr_value = 2};
    socklen_t len = sizeof kept;
    set(fd, SCTP_DEFAULT_PRINFO, &policy, sizeof policy);
    NEED(getsockopt(fd, IPPROTO_SCTP, SCTP_DEFAULT_SEND_PARAM, &kept, &len) == 0);
    NEED(kept.sinfo_flags == SCTP_PR_SCTP_RTX && kept.sinfo_timetolive == 2);
    FAILS(setsockopt(fd, IPPROTO_SCTP, SCTP_DEFAULT_SEND_PARAM, &kept, sizeof kept), EINVAL);
    set(fd, SCTP_DEFAULT_SEND_PARAM, &usual, sizeof usual);
    len = sizeof policy;
    NEED(getsockopt(fd, IPPROTO_SCTP, SCTP_DEFAULT_PRINFO, &policy, &len) == 0);
    NEED(policy.pr_policy == SCTP_PR_SCTP_NONE && policy.pr_value == 9);
}

int main(int count, char **names) {
    static const struct check checks[] = {{"options", options},   {"thresholds", thresholds}, {"hmacs", hmacs},
                                          {"probing", probing},   {"answers", answers},
                                          {"udp_port", udp_port}, {"connectx", connectx},
                                          {"paths", paths},       {"queues", queues},
                                          {"policies", policies}, {"levels", levels}, {"numbers", numbers}};
    return run(count, names, checks, sizeof checks / sizeof *checks);
}
