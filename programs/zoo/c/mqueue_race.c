// The sender changes the value once more behind its message.
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

int value;
int seen;
mqd_t queue;

static void *sender(void *arg) {
    value = 41; // NORACE: value
    if (mq_send(queue, "a", 1, 0) != 0)
        return arg;
    value = 42; // RACE: value with line 32
    return NULL;
}

int main(void) {
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
    pthread_t thread;
    char name[64], message[8];
    snprintf(name, sizeof name, "/deadheat-zoo-race-%d", (int)getpid());
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
    mq_unlink(name);
    if (queue == (mqd_t)-1)
        return 1;
    pthread_create(&thread, NULL, sender, NULL);
    if (mq_receive(queue, message, sizeof message, NULL) != 1)
        return 1;
    seen = value; // RACE: value with line 16
    pthread_join(thread, NULL);
    mq_close(queue);
    return 0;
}
