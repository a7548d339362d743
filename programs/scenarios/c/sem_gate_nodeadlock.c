// Opposite orders of two locks behind a semaphore that starts at one: a gate that is no lock. (Stock TSan reports
// a lock-order inversion.)
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: total 2
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

int total;
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
sem_t gate;

static void add_holding(pthread_mutex_t *outer, pthread_mutex_t *inner) {
    sem_wait(&gate);
    pthread_mutex_lock(outer);
    pthread_mutex_lock(inner);
    total++; // NORACE: total
    pthread_mutex_unlock(inner);
    pthread_mutex_unlock(outer);
    sem_post(&gate);
}

static void *b_then_a(void *arg) {
    add_holding(&b, &a);
    return arg;
}

int main(void) {
    pthread_t thread;
    sem_init(&gate, 0, 1);
    pthread_create(&thread, NULL, b_then_a, NULL);
    add_holding(&a, &b);
    pthread_join(thread, NULL);
    printf("total %d\n", total);
    sem_destroy(&gate);
    return 0;
}
