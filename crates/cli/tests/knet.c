/* Two hosts of libknet in one process, with a link over SCTP: each sends messages to the other. The first one
 * connects before the second one listens. */
#include <arpa/inet.h>
#include <errno.h>
#include <libknet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "need.h"

enum { MESSAGES = 200, LENGTH = 30000 };

static void told(void *data, int fd, int8_t channel, uint8_t way, int error, int number) {
    (void)data, (void)fd;
    fprintf(stderr, "channel %d, way %d: error %d (errno %d)\n", channel, way, error, number);
}

static struct sockaddr_storage place(int host) {
    struct sockaddr_storage address = {0};
    struct sockaddr_in *inet = (void *)&address;
    inet->sin_family = AF_INET;
    inet->sin_port = htons(5000 + host);
    inet->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/* The handle of host 1 or 2, with a link to the other one. */
static knet_handle_t opened(int host, int8_t *channel) {
    struct sockaddr_storage here = place(host), there = place(3 - host);
    int fd = 0;
    *channel = -1;
    knet_handle_t handle = knet_handle_new(host, STDERR_FILENO, KNET_LOG_ERR);
    NEED(handle);
    NEED(knet_handle_enable_sock_notify(handle, 0, told) == 0);
    NEED(knet_handle_add_datafd(handle, &fd, channel) == 0);
    NEED(knet_host_add(handle, 3 - host) == 0);
    NEED(knet_link_set_config(handle, 3 - host, 0, KNET_TRANSPORT_SCTP, &here, &there, 0) == 0);
    NEED(knet_link_set_ping_timers(handle, 3 - host, 0, 100, 2000, 2048) == 0);
    NEED(knet_link_set_enable(handle, 3 - host, 0, 1) == 0);
    NEED(knet_handle_setfwd(handle, 1) == 0);
    return handle;
}

static void await(knet_handle_t handle, int other) {
    struct knet_host_status status = {0};
    for (int n = 0; n < 150 && !status.reachable; n++) {
        usleep(100000);
        NEED(knet_host_get_status(handle, other, &status) == 0);
    }
    NEED(status.reachable);
}

static void carry(knet_handle_t from, int8_t sent_on, knet_handle_t to, int8_t got_on) {
    static char sent[LENGTH], got[LENGTH + 1];
    for (int n = 0; n < MESSAGES; n++) {
        int length = 1 + n * LENGTH / MESSAGES;
        memset(sent, 'a' + n % 26, length);
        NEED(knet_send(from, sent, length, sent_on) == length);
        int tries = 0;
        ssize_t received;
        while ((received = knet_recv(to, got, sizeof got, got_on)) < 0 && errno == EAGAIN && tries++ < 5000)
            usleep(1000);
        NEED(received == length && !memcmp(sent, got, length));
    }
}

static void closed(knet_handle_t handle, int other) {
    NEED(knet_handle_setfwd(handle, 0) == 0);
    NEED(knet_link_set_enable(handle, other, 0, 0) == 0);
    NEED(knet_link_clear_config(handle, other, 0) == 0);
    NEED(knet_host_remove(handle, other) == 0);
    NEED(knet_handle_free(handle) == 0);
}

int main(void) {
    int8_t channels[2];
    knet_handle_t one = opened(1, &channels[0]), two = opened(2, &channels[1]);
    await(one, 2), await(two, 1);
    carry(one, channels[0], two, channels[1]);
    carry(two, channels[1], one, channels[0]);
    closed(one, 2), closed(two, 1);
    puts("all messages have arrived");
    return 0;
}
