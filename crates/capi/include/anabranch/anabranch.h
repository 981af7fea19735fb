/* Anabranch: SCTP over several paths at once, as a library without sockets, threads or clock.
 *
 * The caller passes packets and the time in, and takes packets and events out:
 *
 *     change the endpoint once (connect, send, recv, handle, on_timeout, ...);
 *     then call anb_ep_transmit until it returns 0, and anb_ep_event until it returns 0;
 *     then wait for a packet, or until the time of anb_ep_timeout.
 *
 * Rules for all functions:
 *
 * - Results are 0 or a count; a negative one is a number of errno.h with a minus sign. anb_strerror has a
 *   sentence for each. An `anb_why` gets a sentence that names the value and what was expected; it may be NULL.
 * - -EFAULT: a pointer is NULL that must not be. -EBUSY: another call is using the endpoint at this moment; an
 *   endpoint may move between threads, but only one may use it at a time. -EIO: the library failed, now or in an
 *   earlier call; only anb_ep_free works then.
 * - A struct begins with its size: set it to sizeof the struct, as ANB_INIT does, and all other fields to 0 for
 *   their defaults. Later versions add fields at the end. A library that is older than the header accepts a
 *   struct whose new fields are 0, and returns -E2BIG for any other. A newer library takes missing fields as 0.
 * - The library keeps no pointer after a call, and only anb_ep_new gives out memory.
 * - Times are nanoseconds of a clock of the caller's choice that does not run backwards. A time before that of
 *   an earlier call counts as the time of that call.
 * - Addresses are bytes in network order. Ports and all other numbers are in the order of the host. A payload
 *   protocol identifier is passed to the peer's program unchanged.
 * - `assoc` is the number of an association, never 0, which the endpoint does not use again. The endpoint forgets
 *   an association once it has ended and its messages and events are read: -ENOTCONN.
 */
#ifndef ANABRANCH_H
#define ANABRANCH_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number in the name of the shared library. Before 1.0 it is 0, and a program must be compiled with the
 * header of the library that it uses. */
#define ANB_ABI 0u

#define ANB_NEVER INT64_MAX /* no time: no timer runs */
#define ANB_E2NEW E2BIG     /* a struct has fields that the library does not know */

/* Makes all fields of a struct 0 and sets its size: anb_msg msg; ANB_INIT(&msg); */
#define ANB_INIT(at)                                                                                         \
    do {                                                                                                     \
        unsigned char *anb_byte_ = (unsigned char *)(at);                                                    \
        size_t anb_n_ = sizeof *(at);                                                                        \
        while (anb_n_ > 0) anb_byte_[--anb_n_] = 0;                                                          \
        (at)->size = (uint32_t)sizeof *(at);                                                                 \
    } while (0)

typedef struct anb_ep anb_ep; /* an endpoint: a port, its addresses, and all its associations */

typedef struct { char text[256]; } anb_why; /* a sentence that ends with a zero byte */

typedef struct {
    uint8_t family; /* 4 or 6; 0: no address */
    uint8_t zero[3];
    uint32_t scope; /* 0: reserved for the interface of a link-local address */
    uint8_t bytes[16]; /* an IPv4 address has the first four */
} anb_ip;

/* anb_setup.profile */
#define ANB_RECOMMENDED 0u /* options for real use over several paths, with path MTU discovery */
#define ANB_RFC9260 1u     /* options of RFC 9260: one path at a time */
/* anb_setup.seed_kind */
#define ANB_SEED_SYSTEM 0u /* random numbers of the system */
#define ANB_SEED_GIVEN 1u  /* `seed`: equal seeds give equal packets. On a network: 32 secret random bytes */
/* anb_setup.flags */
#define ANB_PLAIN_IP 1u    /* packets directly in IP: no UDP (RFC 6951) */
#define ANB_NO_CHECKSUM 2u /* CRC32c is neither computed nor checked: the caller does it, or a simulator */

typedef struct {
    uint32_t size, abi; /* abi: ANB_ABI */
    uint16_t port;      /* SCTP port; 0: one of 49152 to 65535 by the seed */
    uint16_t remote_udp_port; /* UDP port of a peer before its first packet; 0: 9899 */
    uint32_t max_associations; /* 0: 1024 */
    const anb_ip *addresses; /* our addresses */
    uint32_t n_addresses;    /* 1 to 16 */
    uint32_t profile;
    uint8_t seed[32];
    uint32_t seed_kind, flags;
} anb_setup;

typedef struct {
    uint32_t size;
    uint16_t port; /* SCTP port */
    uint16_t zero;
    int32_t udp_port; /* 0: remote_udp_port of the endpoint; -1: plain IP */
    uint32_t n_addresses;
    const anb_ip *addresses; /* the INIT is sent to the first; the others follow if it does not answer */
} anb_peer;

/* anb_msg.flags */
#define ANB_UNORDERED 1u /* delivered independently of earlier messages */
#define ANB_MORE 2u      /* the next send on the stream continues this message */
#define ANB_SACK_NOW 4u  /* asks the peer to acknowledge at once (RFC 7053) */
#define ANB_URGENT 8u    /* not held back by pacing, Nagle's algorithm or send_queue */
#define ANB_TRACK 16u    /* ANB_DELIVERED or ANB_SEND_FAILED will name the message by its number: the tracked
                            messages of an association are numbered from 0 in the order of sending */
/* anb_msg.reliability: when the sender abandons the message, if both ends have pr_sctp (RFC 3758, RFC 7496) */
#define ANB_RELIABLE 0u        /* never */
#define ANB_LIFETIME 1u        /* after `value` ms */
#define ANB_RETRANSMISSIONS 2u /* after `value` retransmissions of a chunk */
#define ANB_PRIORITY 3u        /* when the full send buffer needs room for a message with a smaller `value` */

typedef struct {
    uint32_t size;
    uint16_t stream, flags;
    uint32_t ppid;
    uint32_t context; /* not sent; ANB_SEND_FAILED returns it */
    uint32_t reliability, value;
    int32_t path; /* 0: any path; n + 1: path n */
} anb_msg;

/* anb_info.flags */
#define ANB_IS_UNORDERED 1u
#define ANB_IS_END 2u     /* these bytes end the message */
#define ANB_IS_ABORTED 4u /* the message ends here incomplete, without further bytes: the peer abandoned it */

typedef struct {
    uint32_t size;
    uint16_t stream, flags;
    uint32_t ppid, tsn, mid;
    uint16_t ssn, zero;
    uint64_t left; /* bytes of the message that have arrived and that the next calls return */
} anb_info;

typedef struct {
    uint32_t size;
    anb_ip src, dst;
    uint16_t udp_port; /* UDP port of the peer; 0: the packet is not encapsulated */
    uint8_t ecn;       /* ECN field of the IP header: 0 not capable, 1 ECT(1), 2 ECT(0), 3 CE */
    uint8_t may_fragment; /* 1: routers may fragment the packet (DF off) */
} anb_route;

/* anb_event.kind. Ignore kinds that you do not know. */
#define ANB_CONNECTED 1u       /* data may be sent; a: our streams << 16 | the peer's; b: the peer's port;
                                  ip: its first address */
#define ANB_RESTARTED 2u       /* the peer restarted; data in flight is lost */
#define ANB_READABLE 3u        /* a message, or the first part of a large one, can be read */
#define ANB_WRITABLE 4u        /* a send buffer that was full has room again */
#define ANB_PATH_CHANGED 5u    /* ip; a: the state, ANB_PATH_ACTIVE and so on */
#define ANB_HEARTBEAT_ANSWERED 6u /* ip; b: round-trip time in ns */
#define ANB_PRIMARY_CHANGED 7u /* path, ip: the new primary path */
#define ANB_MTU_CHANGED 8u     /* path, ip; a: path MTU in bytes, IP header included */
#define ANB_DELIVERED 9u       /* the peer acknowledged tracked messages; a: how many; b: number of the first */
#define ANB_SEND_FAILED 10u    /* b: number of the message, UINT64_MAX if it was not tracked; a: its context */
#define ANB_ADDRESS_ADDED 11u  /* ip: the peer added this address of its own */
#define ANB_ADDRESS_REMOVED 12u /* ip: the peer removed this address of its own */
#define ANB_ADDRESS_CHANGE 13u /* ip: a request for our address ended; a: 1 if the peer accepted it;
                                  b: 1 add, 2 remove, 3 make primary */
#define ANB_KEY_UNUSED 14u     /* a: number of a key for AUTH that no chunk uses any more */
#define ANB_STREAMS_RESET 15u  /* a: 1 our streams, 2 the peer's, 3 both; b: outcome; reason: the numbers of the
                                  streams, two bytes each in the order of the host, none for all, at most 101 */
#define ANB_STREAMS_ADDED 16u  /* a: ours << 16 | the peer's; b: outcome */
#define ANB_PEER_ERROR 17u     /* reason: error causes as received, at most 202 bytes */
#define ANB_SHUTDOWN 18u       /* the peer sends no more data */
#define ANB_CLOSED 19u         /* the association ended; a: ANB_GRACEFUL and so on; reason: a sentence */

/* Outcomes of ANB_STREAMS_RESET and ANB_STREAMS_ADDED */
#define ANB_PERFORMED 0u
#define ANB_DENIED 1u
#define ANB_WRONG_STREAM 2u
#define ANB_FAILED 3u
#define ANB_GIVEN_UP 4u

/* Reasons of ANB_CLOSED */
#define ANB_GRACEFUL 0u
#define ANB_LOCAL_ABORT 1u
#define ANB_PEER_ABORT 2u
#define ANB_CONNECT_TIMEOUT 3u
#define ANB_UNREACHABLE 4u
#define ANB_DUPLICATE 5u /* there is another association with this peer; b: its number */
#define ANB_TOO_MANY_ERRORS 6u
#define ANB_PROTOCOL_VIOLATION 7u

typedef struct {
    uint32_t size, assoc;
    uint16_t kind;
    uint16_t path; /* number of a path, for kinds 7 and 8 */
    uint32_t a;
    uint64_t b;
    anb_ip ip;
    uint32_t reason_len;
    uint8_t reason[204]; /* `reason_len` bytes, and a zero byte behind them */
} anb_event;

/* anb_path.state */
#define ANB_PATH_UNCONFIRMED 1u        /* not verified yet: no user data */
#define ANB_PATH_ACTIVE 2u
#define ANB_PATH_POTENTIALLY_FAILED 3u /* user data only if no path is active */
#define ANB_PATH_INACTIVE 4u

typedef struct {
    uint32_t size;
    uint16_t id; /* number of the path, which does not change */
    uint16_t udp_port; /* the peer's; 0: not encapsulated */
    anb_ip local, remote;
    uint8_t state, primary; /* primary: 1 if it is the primary path */
    uint8_t zero[2];
    uint32_t mtu;    /* in bytes, IP header included */
    uint32_t errors; /* consecutive errors of the path */
    uint32_t zero2;
    uint64_t cwnd, ssthresh, flight; /* in bytes; ssthresh 0: none yet */
    uint64_t srtt, rto;              /* in ns; srtt 0: none yet */
    uint64_t user_bytes;             /* sent, retransmissions included */
    uint64_t retransmissions, timeouts; /* chunks; expiries of T3-rtx */
} anb_path;

/* anb_stats.state (RFC 9260, section 4) */
#define ANB_ENDED 0u /* messages may still be read */
#define ANB_COOKIE_WAIT 1u
#define ANB_COOKIE_ECHOED 2u
#define ANB_ESTABLISHED 3u
#define ANB_SHUTDOWN_PENDING 4u
#define ANB_SHUTDOWN_SENT 5u
#define ANB_SHUTDOWN_RECEIVED 6u
#define ANB_SHUTDOWN_ACK_SENT 7u

typedef struct {
    uint32_t size, state;
    uint64_t packets_sent, packets_received;
    uint64_t buffered;        /* bytes in the send buffer */
    uint64_t unsent_messages; /* messages that wait for their first transmission */
    uint64_t outstanding;     /* chunks sent and not acknowledged cumulatively */
    uint64_t peer_rwnd;       /* the peer's receive window in bytes */
    uint64_t user_bytes_received, duplicates; /* duplicates: chunks that had arrived before */
    uint64_t abandoned;       /* messages */
} anb_stats;

/* ANB_ABI of the library; its version as text; a sentence for a number of errno.h with either sign. */
uint32_t anb_abi(void);
const char *anb_version(void);
const char *anb_strerror(int errnum);

/* Makes an endpoint without associations that does not listen. -EINVAL: `why` names the option; -E2BIG;
 * -EPROTO: abi is not that of the library. */
int anb_ep_new(const anb_setup *setup, anb_ep **ep, anb_why *why);

/* Frees an endpoint and ends its associations without telling their peers. NULL is allowed. An endpoint that
 * another thread is using at this moment is not freed. */
void anb_ep_free(anb_ep *ep);

/* Sets an option by its name in docs/scenarios.md, with dots for groups: "cmt.path_selection". The value is
 * written as there, with or without the quotes of a text: "200 ms", "true", "[1, 2]", "none".
 * assoc 0: for later associations, also those that peers begin. Other numbers: for this association; only RTO, SACK,
 * heartbeat, burst and error options. -ENOENT: no such option; -EINVAL; -EBUSY: the option cannot change while an
 * association exists; -EPIPE: the association has ended. `why` says more. */
int anb_ep_set(anb_ep *ep, int64_t now, uint32_t assoc, const char *name, const char *value, anb_why *why);

/* Writes the value of an option as text with a zero byte, which anb_ep_set understands. Returns its length; if
 * that is not less than `len`, the text is empty. Errors as for anb_ep_set. */
int anb_ep_get(anb_ep *ep, uint32_t assoc, const char *name, char *value, size_t len);

/* Performs a request: a verb with an argument ("" if there is none):
 *     heartbeat IP | primary IP | peer-primary IP | add-address IP | remove-address IP
 *     path-mtu IP BYTES | remote-port IP UDP-PORT | stream-value STREAM VALUE
 *     reset-streams in|out|both [STREAM, ...] | add-streams OUT,IN | reset-association
 *     auth-key NUMBER HEX | auth-activate NUMBER | auth-deactivate NUMBER | auth-remove NUMBER
 * -ENOENT: no such verb; -EINVAL: wrong argument; -EPERM: refused. `why` says more. */
int anb_ep_do(anb_ep *ep, int64_t now, uint32_t assoc, const char *verb, const char *argument, anb_why *why);

/* Sets whether peers may begin associations. ANB_CONNECTED announces each. */
int anb_ep_listen(anb_ep *ep, int on);

/* Begins an association and writes its number. ANB_CONNECTED or ANB_CLOSED tells the result.
 * -EADDRNOTAVAIL: no usable address; -EISCONN: there is an association with this peer; -EMFILE: too many;
 * -EINVAL: the port is 0, or an address is invalid. */
int anb_ep_connect(anb_ep *ep, int64_t now, const anb_peer *peer, uint32_t *assoc, anb_why *why);

/* Queues a message of at least one byte, or a part of one (ANB_MORE), also before ANB_CONNECTED: all of it or
 * nothing. The bytes are copied. -EAGAIN: the send buffer is full, and ANB_WRITABLE will follow; -EMSGSIZE: the
 * message is larger than the buffer; -EINVAL: no such stream or path, no bytes, an unknown flag, or a message on another
 * stream is not complete yet; -EPIPE: the association has ended or is being shut down; -ENOTCONN. */
int anb_ep_send(anb_ep *ep, int64_t now, uint32_t assoc, const anb_msg *msg, const void *data, size_t len);

/* Reads a message, or the first `len` bytes of it; further calls return the rest. Returns the number of bytes,
 * which is 0 only with ANB_IS_ABORTED. -EAGAIN: nothing to read; -EPIPE: the association has ended and
 * everything was read; -EINVAL: len is 0. */
ssize_t anb_ep_recv(anb_ep *ep, int64_t now, uint32_t assoc, void *data, size_t len, anb_info *info);

/* Ends an association: once all data is delivered (abort 0), or at once, with a reason of at most 204 bytes for
 * the peer, which may be NULL. -ENOTCONN; -EMSGSIZE: the reason is longer. */
int anb_ep_end(anb_ep *ep, int64_t now, uint32_t assoc, int abort, const void *reason, size_t len);

/* Processes a packet: the bytes behind its IP header, or behind its UDP header. src is the peer, dst one of our
 * addresses, udp_port the peer's. Returns 0, whatever the bytes are; -EINVAL: the route has no addresses. */
int anb_ep_handle(anb_ep *ep, int64_t now, const anb_route *route, const void *packet, size_t len);

/* Writes the next packet and its addresses. Returns its length, or 0: there is none now. -ENOBUFS: it is longer
 * than `len`, and is kept; 65535 always suffices, as does the largest of the MTUs once data flows. */
ssize_t anb_ep_transmit(anb_ep *ep, int64_t now, void *packet, size_t len, anb_route *route);

/* Writes the next event. Returns 1, or 0: there is none. */
int anb_ep_event(anb_ep *ep, anb_event *event);

/* The time at which to call anb_ep_on_timeout, or ANB_NEVER, once anb_ep_transmit has returned 0. */
int64_t anb_ep_timeout(anb_ep *ep);
int anb_ep_on_timeout(anb_ep *ep, int64_t now);

/* Writes the first `n` paths, each into as many bytes as the size of the first element says. Returns the number
 * of paths. -ENOTCONN. */
int anb_ep_paths(anb_ep *ep, int64_t now, uint32_t assoc, anb_path *paths, size_t n);

/* Writes the state and the counters of an association. -ENOTCONN. */
int anb_ep_stats(anb_ep *ep, int64_t now, uint32_t assoc, anb_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
