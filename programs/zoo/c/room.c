// A pipe, a socket and a queue hold only so much. Whoever sends into a full one goes on after somebody has
// received, and so knows what that one has done before.
//
// NORACE
// EXPECT-STDOUT: 1 2 3
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int by_pipe[2], by_socket[2];
mqd_t by_queue;
int piped, sent, queued;
char bytes[65536], into[65536];

static void *receiver(void *arg) {
    piped = 1; // NORACE: piped
    if (read(by_pipe[0], into, sizeof into) != sizeof into)
        return arg;
    sent = 2; // NORACE: sent
    while (recv(by_socket[0], into, sizeof into, MSG_DONTWAIT) > 0)
        ;
    queued = 3; // NORACE: queued
    mq_receive(by_queue, into, 8, NULL);
    return arg;
}

static int fill(void) {
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
    char name[64];
    int smallest = 1;
    if (pipe(by_pipe) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, by_socket) != 0)
        return 1;
    if (setsockopt(by_socket[1], SOL_SOCKET, SO_SNDBUF, &smallest, sizeof smallest) != 0)
        return 1;
    snprintf(name, sizeof name, "/deadheat-zoo-%d", (int)getpid());
    by_queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
    mq_unlink(name);
    if (by_queue < 0 || mq_send(by_queue, "a", 1, 0) != 0)
        return 1;
    while (send(by_socket[1], bytes, 256, MSG_DONTWAIT) > 0)
        ;
    return write(by_pipe[1], bytes, sizeof bytes) != sizeof bytes;
}

int main(void) {
    pthread_t thread;
    if (fill() != 0)
        return 1;
    pthread_create(&thread, NULL, receiver, NULL);
    if (write(by_pipe[1], "x", 1) != 1)
        return 1;
    printf("%d", piped); // NORACE: piped
    if (send(by_socket[1], "x", 1, 0) != 1)
        return 1;
    printf(" %d", sent); // NORACE: sent
    mq_send(by_queue, "b", 1, 0);
    printf(" %d\n", queued); // NORACE: queued
    pthread_join(thread, NULL);
    return 0;
}
