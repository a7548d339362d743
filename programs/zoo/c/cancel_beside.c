// A thread is cancelled while it reads, at the same time as another one ends by pthread_exit.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: all ended
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/eventfd.h>

sem_t ready;

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

static void *exits(void *arg) {
    sem_post(&ready);
    pthread_exit(arg);
}

static void *waits(void *arg) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, exits, NULL);
    sem_wait(&ready);
    pthread_join(thread, &result);
    return result ? arg : NULL;
}

int main(void) {
    pthread_t threads[2];
    void *results[2];
    sem_init(&ready, 0, 0);
    pthread_create(&threads[0], NULL, cancels, &ready);
    pthread_create(&threads[1], NULL, waits, &ready);
    pthread_join(threads[0], &results[0]);
    pthread_join(threads[1], &results[1]);
    puts(results[0] || results[1] ? "somebody went on" : "all ended");
    return 0;
}
