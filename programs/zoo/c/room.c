// A pipe, a socket and queues hold only so much. Whoever sends into a full one goes on after somebody has
// received, and so knows what that one has done before.
//
// NORACE
// EXPECT-STDOUT: 1 2 3 4
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <unistd.h>

struct message {
    long kind;
    char text[64];
} message = {1, "abc"};

int by_pipe[2], by_socket[2], by_messages;
mqd_t by_queue;
int piped, sent, queued, posted;
char bytes[65536], into[65536];

static void *receiver(void *arg) {
    struct message received;
    piped = 1; // NORACE: piped
    if (read(by_pipe[0], into, sizeof into) != sizeof into)
        return arg;
    sent = 2; // NORACE: sent
    while (recv(by_socket[0], into, sizeof into, MSG_DONTWAIT) > 0)
        ;
    queued = 3; // NORACE: queued
    mq_receive(by_queue, into, 8, NULL);
    posted = 4; // NORACE: posted
    msgrcv(by_messages, &received, sizeof received.text, 0, 0);
    return arg;
}

static int fill(void) {
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
    struct msqid_ds limits;
    if (pipe(by_pipe) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, by_socket) != 0)
        return 1;
    by_queue = mq_open("/deadheat_zoo_room", O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
    mq_unlink("/deadheat_zoo_room");
    by_messages = msgget(IPC_PRIVATE, 0600);
    if (by_queue < 0 || by_messages < 0 || msgctl(by_messages, IPC_STAT, &limits) != 0)
        return 1;
    limits.msg_qbytes = 100;
    if (msgctl(by_messages, IPC_SET, &limits) != 0)
        return 1;
    if (write(by_pipe[1], bytes, sizeof bytes) != sizeof bytes || mq_send(by_queue, "a", 1, 0) != 0)
        return 1;
    while (send(by_socket[1], bytes, 1024, MSG_DONTWAIT) > 0)
        ;
    return msgsnd(by_messages, &message, sizeof message.text, 0);
}

int main(void) {
    pthread_t thread;
    if (fill() != 0)
        return 1;
    pthread_create(&thread, NULL, receiver, NULL);
    write(by_pipe[1], "x", 1);
    printf("%d", piped); // NORACE: piped
    send(by_socket[1], "x", 1, 0);
    printf(" %d", sent); // NORACE: sent
    mq_send(by_queue, "b", 1, 0);
    printf(" %d", queued); // NORACE: queued
    msgsnd(by_messages, &message, sizeof message.text, 0);
    printf(" %d\n", posted); // NORACE: posted
    pthread_join(thread, NULL);
    msgctl(by_messages, IPC_RMID, NULL);
    return 0;
}
