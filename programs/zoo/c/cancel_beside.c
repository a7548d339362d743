// A thread is cancelled while it reads, at the same time as other threads end by themselves, by pthread_exit and in waits for what is removed.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: all ended
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/msg.h>

int queue;

static void *reads(void *arg) {
    eventfd_t value;
    eventfd_read(eventfd(0, 0), &value);
    return arg;
}

static void *cancels(void *arg) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, reads, NULL);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    return result == PTHREAD_CANCELED ? NULL : arg;
}

static void *removes(void *arg) {
    msgctl(queue, IPC_RMID, NULL);
    pthread_exit(arg);
}

static void *waits(void *arg) {
    struct {
        long kind;
        char text[4];
    } message;
    pthread_t thread;
    queue = msgget(IPC_PRIVATE, 0600);
    pthread_create(&thread, NULL, removes, NULL);
    ssize_t got = msgrcv(queue, &message, 4, 0, 0);
    pthread_join(thread, NULL);
    return got == -1 ? NULL : arg;
}

int main(void) {
    pthread_t threads[2];
    void *results[2];
    pthread_create(&threads[0], NULL, cancels, &queue);
    pthread_create(&threads[1], NULL, waits, &queue);
    pthread_join(threads[0], &results[0]);
    pthread_join(threads[1], &results[1]);
    puts(results[0] || results[1] ? "somebody went on" : "all ended");
    return 0;
}
