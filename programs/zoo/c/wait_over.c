// What is over lets others go on: a join that was cancelled, a barrier that the last one destroys, a robust mutex that was given up.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: joined 1, destroyed 1, not recoverable 1 1
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>

pthread_t idler;
pthread_barrier_t barrier;
pthread_mutex_t lost;
sem_t done;
atomic_int destroyed;

static void *idle(void *arg) {
    while (sem_wait(&done) != 0)
        ;
    return arg;
}

static void *joiner(void *arg) {
    pthread_join(idler, NULL);
    return arg;
}

static void *comer(void *arg) {
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
        atomic_fetch_add(&destroyed, pthread_barrier_destroy(&barrier) == 0);
    return arg;
}

static void *owner(void *arg) {
    pthread_mutex_lock(&lost);
    return arg;
}

int main(void) {
    pthread_mutexattr_t robust;
    pthread_t threads[3];
    sem_init(&done, 0, 0);
    pthread_create(&idler, NULL, idle, NULL);
    pthread_create(&threads[0], NULL, joiner, NULL);
    pthread_cancel(threads[0]);
    pthread_join(threads[0], NULL);
    sem_post(&done);
    int joined = pthread_join(idler, NULL) == 0;
    pthread_barrier_init(&barrier, NULL, 3);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, comer, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&lost, &robust);
    pthread_create(&threads[0], NULL, owner, NULL);
    pthread_join(threads[0], NULL);
    if (pthread_mutex_lock(&lost) != EOWNERDEAD || pthread_mutex_unlock(&lost) != 0)
        return 1;
    int first = pthread_mutex_lock(&lost), second = pthread_mutex_lock(&lost);
    printf("joined %d, destroyed %d, not recoverable %d %d\n", joined, atomic_load(&destroyed), first == ENOTRECOVERABLE,
           second == ENOTRECOVERABLE);
    return 0;
}
