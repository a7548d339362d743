// Several messages are sent and received by one call each: what was done before is ordered as with one.
//
// NORACE
// EXPECT-STDOUT: value 42
// CFLAGS: -D_GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int value;
int ends[2];

static void *sender(void *arg) {
    char tokens[2] = "xy";
    struct iovec pieces[2] = {{&tokens[0], 1}, {&tokens[1], 1}};
    struct mmsghdr messages[2] = {
        {.msg_hdr = {.msg_iov = &pieces[0], .msg_iovlen = 1}},
        {.msg_hdr = {.msg_iov = &pieces[1], .msg_iovlen = 1}},
    };
    value = 42; // NORACE: value
    return sendmmsg(ends[0], messages, 2, 0) == 2 ? NULL : arg;
}

int main(void) {
    pthread_t thread;
    char token;
    struct iovec piece = {&token, 1};
    struct mmsghdr message = {.msg_hdr = {.msg_iov = &piece, .msg_iovlen = 1}};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
        return 1;
    pthread_create(&thread, NULL, sender, NULL);
    if (recvmmsg(ends[1], &message, 1, 0, NULL) == 1)
        printf("value %d\n", value); // NORACE: value
    pthread_join(thread, NULL);
    return 0;
}
