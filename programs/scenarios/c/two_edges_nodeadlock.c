// A cycle of three in the order of locks, with only two threads: one has two of its three edges, at different
// times. It can wait at one of them at a time. (Stock TSan reports a lock-order inversion.)
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: total 3
#include <pthread.h>
#include <stdio.h>

int total;
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, c = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t count = PTHREAD_MUTEX_INITIALIZER;

static void add_holding(pthread_mutex_t *outer, pthread_mutex_t *inner) {
    pthread_mutex_lock(outer);
    pthread_mutex_lock(inner);
    pthread_mutex_lock(&count);
    total++; // NORACE: total
    pthread_mutex_unlock(&count);
    pthread_mutex_unlock(inner);
    pthread_mutex_unlock(outer);
}

static void *b_then_c(void *arg) {
    add_holding(&b, &c);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, b_then_c, NULL);
    add_holding(&a, &b);
    add_holding(&c, &a);
    pthread_join(thread, NULL);
    printf("total %d\n", total);
    return 0;
}
