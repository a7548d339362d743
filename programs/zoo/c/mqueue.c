// A message in a POSIX queue carries the order: what the sender did before is done when it arrives.
// The second message has a time limit on both sides.
//
// NORACE
// EXPECT-STDOUT: values 41 42
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int first, second;
mqd_t queue;

static struct timespec soon(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += 20;
    return time;
}

static void *sender(void *arg) {
    struct timespec limit = soon();
    first = 41; // NORACE: first
    if (mq_send(queue, "a", 1, 0) != 0)
        return arg;
    second = 42; // NORACE: second
    mq_timedsend(queue, "b", 1, 0, &limit);
    return NULL;
}

int main(void) {
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
    struct timespec limit = soon();
    pthread_t thread;
    char name[64], message[8];
    int seen[2];
    snprintf(name, sizeof name, "/deadheat-zoo-%d", (int)getpid());
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
    mq_unlink(name);
    if (queue == (mqd_t)-1)
        return 1;
    pthread_create(&thread, NULL, sender, NULL);
    if (mq_receive(queue, message, sizeof message, NULL) != 1)
        return 1;
    seen[0] = first; // NORACE: first
    seen[1] = 42;
    if (mq_timedreceive(queue, message, sizeof message, NULL, &limit) == 1)
        seen[1] = second; // NORACE: second
    printf("values %d %d\n", seen[0], seen[1]);
    pthread_join(thread, NULL);
    mq_close(queue);
    return 0;
}
