// Opposite orders in two phases with a barrier in between: in the first all nest one way, in the second the
// other way. (Stock TSan reports a lock-order inversion.)
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: total 4
#include <pthread.h>
#include <stdio.h>

int total;
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
pthread_barrier_t phase;

static void add_holding(pthread_mutex_t *outer, pthread_mutex_t *inner) {
    pthread_mutex_lock(outer);
    pthread_mutex_lock(inner);
    total++; // NORACE: total
    pthread_mutex_unlock(inner);
    pthread_mutex_unlock(outer);
}

static void *work(void *arg) {
    add_holding(&a, &b);
    pthread_barrier_wait(&phase);
    add_holding(&b, &a);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&phase, NULL, 2);
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    pthread_join(thread, NULL);
    printf("total %d\n", total);
    pthread_barrier_destroy(&phase);
    return 0;
}
