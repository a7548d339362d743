// Timed waits: one whose limit has already passed, so that it comes back with the mutex and ETIMEDOUT,
// and one whose limit never runs out.
//
// NORACE
// EXPECT-STDOUT: got 42
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

int value;
bool ready;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *producer(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    value = 42; // NORACE: value
    ready = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct timespec long_ago = {0}, limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 3600;

    pthread_mutex_lock(&lock);
    while (pthread_cond_timedwait(&changed, &lock, &long_ago) != ETIMEDOUT)
        ;
    pthread_create(&thread, NULL, producer, NULL);
    while (!ready && pthread_cond_timedwait(&changed, &lock, &limit) == 0)
        ;
    printf("got %d\n", value); // NORACE: value
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
