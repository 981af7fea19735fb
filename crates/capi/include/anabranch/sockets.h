/* Anabranch: SCTP sockets (RFC 6458) for programs of C and C++ on Linux, over a stack in user space.
 *
 * The functions are those of sys/socket.h and of RFC 6458 with the prefix anb_: same arguments, results, errno.
 * Numbers and structs of options, notifications and control messages are those of <linux/sctp.h>, which comes
 * with the C library; <netinet/sctp.h> of lksctp has the same.
 *
 * The stack runs in a host process (`anabranch sctpd`) or in a thread of this process: call anb_host_attach or
 * anb_host_start before the first socket. Without either, ANABRANCH_SOCKET names the host process.
 *
 * A descriptor of anb_socket works with poll, select, epoll, fcntl, fork and exec as any other. READ, WRITE, SEND
 * AND RECV WITHOUT THE PREFIX SEE RAW RECORDS: use them for other descriptors only. The functions with the prefix
 * take other descriptors, too. They may be called from any thread; do not cancel a thread (pthread_cancel) in one.
 */
#ifndef ANABRANCH_SOCKETS_H
#define ANABRANCH_SOCKETS_H

#include <anabranch/anabranch.h>
#include <sys/socket.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    uint32_t size, abi;       /* abi: ANB_ABI */
    uint16_t udp_port;        /* our UDP port, 9899 for servers; 0: any free one */
    uint16_t remote_udp_port; /* UDP port of peers before their first packet; 0: 9899 */
    uint32_t profile;         /* ANB_RECOMMENDED or ANB_RFC9260 */
    const anb_ip *addresses;  /* our addresses, each one or more paths; NULL: all of this host */
    uint32_t n_addresses, zero;
    const char *options; /* lines `name = value` as in scenarios; NULL: none */
} anb_host_setup;

/* Uses the host process that serves `path`; NULL: that of ANABRANCH_SOCKET, or /run/anabranch/sctp. A path that
 * begins with @ is an abstract name. -1 and EPROTONOSUPPORT: no process serves it. */
int anb_host_attach(const char *path);

/* Runs the stack in a thread of this process, which serves this process and its children while it lives. EALREADY:
 * the thread runs; EADDRINUSE: another process has the UDP port. */
int anb_host_start(const anb_host_setup *setup, anb_why *why);

/* Ends the thread of anb_host_start once the associations of closed sockets have ended, after 10 s at most. Call it
 * before exit: data that has not been delivered by then is lost. ESRCH: the thread does not run. */
int anb_host_stop(void);

/* The same as the functions without the prefix. Domain AF_INET or AF_INET6, type SOCK_STREAM (one-to-one) or
 * SOCK_SEQPACKET (one-to-many), protocol IPPROTO_SCTP. */
int anb_socket(int domain, int type, int protocol);
int anb_bind(int fd, const struct sockaddr *address, socklen_t len);
int anb_connect(int fd, const struct sockaddr *address, socklen_t len);
int anb_listen(int fd, int backlog);
int anb_accept(int fd, struct sockaddr *address, socklen_t *len);
int anb_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags);
int anb_shutdown(int fd, int how);
int anb_close(int fd);
int anb_dup(int fd);
ssize_t anb_recv(int fd, void *buffer, size_t len, int flags);
ssize_t anb_recvfrom(int fd, void *buffer, size_t len, int flags, struct sockaddr *address, socklen_t *address_len);
ssize_t anb_recvmsg(int fd, struct msghdr *message, int flags);
ssize_t anb_send(int fd, const void *buffer, size_t len, int flags);
ssize_t anb_sendto(int fd, const void *buffer, size_t len, int flags, const struct sockaddr *address,
                   socklen_t address_len);
ssize_t anb_sendmsg(int fd, const struct msghdr *message, int flags);
int anb_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int anb_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int anb_getsockname(int fd, struct sockaddr *address, socklen_t *len);
int anb_getpeername(int fd, struct sockaddr *address, socklen_t *len);

#define ANB_BINDX_ADD 1
#define ANB_BINDX_REM 2
/* Adds addresses to a socket, or removes them. `addresses` are `count` packed sockaddr_in and sockaddr_in6. */
int anb_bindx(int fd, const struct sockaddr *addresses, int count, int flags);
/* Connects to a peer with several addresses, each of them a path. `id` gets the number of
 * the association; it may be NULL. */
int anb_connectx(int fd, const struct sockaddr *addresses, int count, int32_t *id);
/* Moves an association of a one-to-many socket to a new one-to-one socket. Returns its descriptor. */
int anb_peeloff(int fd, int32_t id);
/* Set `addresses` to the peer's addresses, or to ours: packed, in memory that anb_freeaddrs frees. Return their
 * number. */
int anb_getpaddrs(int fd, int32_t id, struct sockaddr **addresses);
int anb_getladdrs(int fd, int32_t id, struct sockaddr **addresses);
void anb_freeaddrs(struct sockaddr *addresses);

#define ANB_SENDV_NOINFO 0u
#define ANB_SENDV_SNDINFO 1u /* struct sctp_sndinfo: stream, flags, PPID, context, association */
#define ANB_SENDV_PRINFO 2u  /* struct sctp_prinfo: when the sender abandons the message */
#define ANB_SENDV_AUTHINFO 3u /* struct sctp_authinfo: a key for AUTH, which must be the active one */
#define ANB_SENDV_SPA 4u /* struct sctp_sendv_spa: any of these, as its first word says */
/* Sends a message; `address` may be NULL. */
ssize_t anb_sendv(int fd, const struct iovec *vectors, int count, const struct sockaddr *address, const void *info,
                  socklen_t info_len, unsigned info_type, int flags);
/* Receives a message or notification. `info` gets a struct sctp_rcvinfo if the option SCTP_RECVRCVINFO is set, else
 * *info_len is 0. *flags: those of recvmsg before the call, MSG_EOR and MSG_NOTIFICATION after it. All pointers but
 * `vectors` may be NULL. */
ssize_t anb_recvv(int fd, const struct iovec *vectors, int count, struct sockaddr *from, socklen_t *from_len,
                  void *info, socklen_t *info_len, int *flags);

#ifdef __cplusplus
}
#endif
#endif
