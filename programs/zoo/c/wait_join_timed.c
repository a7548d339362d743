// Joins that end by time, though the thread waits for whoever joins it.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: timed out 1 1, busy 1
// EXPECT-STDOUT: joined
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

sem_t go;

static void *worker(void *arg) {
    sem_wait(&go);
    return arg;
}

int main(void) {
    pthread_t thread;
    struct timespec until;
    sem_init(&go, 0, 0);
    pthread_create(&thread, NULL, worker, NULL);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    int timed = pthread_timedjoin_np(thread, NULL, &until);
    clock_gettime(CLOCK_MONOTONIC, &until);
    int clocked = pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until);
    int tried = pthread_tryjoin_np(thread, NULL);
    printf("timed out %d %d, busy %d\n", timed == ETIMEDOUT, clocked == ETIMEDOUT, tried == EBUSY);
    sem_post(&go);
    if (pthread_join(thread, NULL) == 0)
        puts("joined");
    return 0;
}
