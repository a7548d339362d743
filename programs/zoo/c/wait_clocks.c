// Every wait for a lock, a semaphore or a condition that ends by a clock.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: 8 of 8 timed out
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
sem_t held, done;

static void *holder(void *arg) {
    pthread_mutex_lock(&mutex);
    pthread_rwlock_wrlock(&lock);
    sem_post(&held);
    while (sem_wait(&done) != 0)
        ;
    pthread_rwlock_unlock(&lock);
    pthread_mutex_unlock(&mutex);
    return arg;
}

static struct timespec *soon(clockid_t clock) {
    static struct timespec until;
    clock_gettime(clock, &until);
    until.tv_nsec += 20000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    return &until;
}

int main(void) {
    pthread_t thread;
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    mtx_t mine;
    cnd_t never;
    int count = 0;
    sem_init(&held, 0, 0);
    sem_init(&done, 0, 0);
    pthread_create(&thread, NULL, holder, NULL);
    sem_wait(&held);
    clockid_t clock = CLOCK_MONOTONIC;
    count += sem_clockwait(&held, clock, soon(clock)) != 0 && errno == ETIMEDOUT;
    count += sem_timedwait(&held, soon(CLOCK_REALTIME)) != 0 && errno == ETIMEDOUT;
    count += pthread_mutex_clocklock(&mutex, clock, soon(clock)) == ETIMEDOUT;
    count += pthread_mutex_timedlock(&mutex, soon(CLOCK_REALTIME)) == ETIMEDOUT;
    count += pthread_rwlock_clockrdlock(&lock, clock, soon(clock)) == ETIMEDOUT;
    count += pthread_rwlock_clockwrlock(&lock, clock, soon(clock)) == ETIMEDOUT;
    pthread_mutex_lock(&own);
    count += pthread_cond_clockwait(&condition, &own, clock, soon(clock)) == ETIMEDOUT;
    pthread_mutex_unlock(&own);
    mtx_init(&mine, mtx_timed);
    cnd_init(&never);
    mtx_lock(&mine);
    count += cnd_timedwait(&never, &mine, soon(CLOCK_REALTIME)) == thrd_timedout;
    mtx_unlock(&mine);
    sem_post(&done);
    pthread_join(thread, NULL);
    printf("%d of 8 timed out\n", count);
    return 0;
}
