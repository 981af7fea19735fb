/* For NetPerfMeter 1.9 on a kernel without SCTP: a socket of SCTP is a TCP socket on a free port, and takes all options. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#define MOST 1024
static char is_sctp[MOST];

int socket(int domain, int type, int protocol)
{
   int (*real)(int, int, int) = dlsym(RTLD_NEXT, "socket");
   int sctp = protocol == IPPROTO_SCTP;
   int fd = sctp ? real(domain, (type & ~0xf) | SOCK_STREAM, IPPROTO_TCP) : real(domain, type, protocol);
   if (fd >= 0 && fd < MOST)
      is_sctp[fd] = sctp;
   return fd;
}

int bind(int fd, const struct sockaddr *address, socklen_t length)
{
   int (*real)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "bind");
   struct sockaddr_storage any = { 0 };
   if (fd < 0 || fd >= MOST || !is_sctp[fd] || length > sizeof(any))
      return real(fd, address, length);
   memcpy(&any, address, length);
   ((struct sockaddr_in *)&any)->sin_port = 0; /* at the same place with IPv6 */
   return real(fd, (struct sockaddr *)&any, length);
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
   int (*real)(int, int, int, const void *, socklen_t) = dlsym(RTLD_NEXT, "setsockopt");
   return level == IPPROTO_SCTP ? 0 : real(fd, level, name, value, length);
}
