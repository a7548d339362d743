// Two threads take the mutex with a time limit so generous that it never runs out, once against the
// realtime clock and once against the monotonic one. (Older TSan runtimes do not know
// pthread_mutex_clocklock and report `total`.)
//
// NORACE
// EXPECT-STDOUT: total 20
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 5 };

int total;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct timespec in_an_hour(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_sec += 3600;
    return time;
}

static void *adder(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec limit = in_an_hour(CLOCK_REALTIME);
        if (pthread_mutex_timedlock(&lock, &limit) == 0) {
            total++; // NORACE: total
            pthread_mutex_unlock(&lock);
        }
        limit = in_an_hour(CLOCK_MONOTONIC);
        if (pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &limit) == 0) {
            total++; // NORACE: total
            pthread_mutex_unlock(&lock);
        }
    }
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, adder, NULL);
    pthread_create(&second, NULL, adder, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("total %d\n", total);
    return 0;
}
