// Whoever sends into a full pipe or queue knows what the receiver has done before it received, not what it
// does afterwards; and what is sent while there is room waits for nobody.
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

int by_pipe[2], spare[2];
mqd_t by_queue;
int before, after, queued, roomy;
char bytes[65536], into[65536];

static void *receiver(void *arg) {
    roomy = 4;  // RACE: roomy with line 49
    before = 1; // NORACE: before
    if (read(by_pipe[0], into, sizeof into) != sizeof into)
        return arg;
    after = 2; // RACE: after with line 54
    mq_receive(by_queue, into, 8, NULL);
    queued = 3; // RACE: queued with line 56
    if (read(spare[0], into, 1) != 1)
        return NULL;
    return arg;
}

static int fill(void) {
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
    char name[64];
    if (pipe(by_pipe) != 0 || pipe(spare) != 0)
        return 1;
    snprintf(name, sizeof name, "/deadheat-zoo-%d", (int)getpid());
    by_queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
    mq_unlink(name);
    if (by_queue < 0 || mq_send(by_queue, "a", 1, 0) != 0)
        return 1;
    return write(by_pipe[1], bytes, sizeof bytes) != sizeof bytes;
}

int main(void) {
    pthread_t thread;
    int seen;
    if (fill() != 0)
        return 1;
    pthread_create(&thread, NULL, receiver, NULL);
    // There is room for these.
    if (write(spare[1], "x", 1) != 1)
        return 1;
    seen = roomy; // RACE: roomy with line 15
    // Not for these.
    if (write(by_pipe[1], "x", 1) != 1)
        return 1;
    seen += before; // NORACE: before
    seen += after; // RACE: after with line 19
    mq_send(by_queue, "b", 1, 0);
    seen += queued; // RACE: queued with line 21
    pthread_join(thread, NULL);
    printf("%s\n", seen >= 1 ? "sent" : "nothing");
    return 0;
}
