// A thread goes on after it has registered what is done at the end.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

int value;
pthread_barrier_t registered;

static void at_end(void) {
    value = 1; // RACE: value with line 16
}

static void *worker(void *arg) {
    atexit(at_end);
    pthread_barrier_wait(&registered);
    value = 2; // RACE: value with line 10
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&registered, NULL, 2);
    pthread_create(&thread, NULL, worker, NULL);
    pthread_detach(thread);
    pthread_barrier_wait(&registered);
    return 0;
}
