// Two locks in opposite orders, and both sides only try for the second one and let go of the first when they
// do not get it: a cycle of wishes in which nobody insists.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: total 2
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

int total;
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void add_holding(pthread_mutex_t *outer, pthread_mutex_t *inner) {
    pthread_mutex_lock(outer);
    while (pthread_mutex_trylock(inner) != 0) {
        pthread_mutex_unlock(outer);
        sched_yield();
        pthread_mutex_lock(outer);
    }
    total++; // NORACE: total
    pthread_mutex_unlock(inner);
    pthread_mutex_unlock(outer);
}

static void *b_then_a(void *arg) {
    add_holding(&b, &a);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, b_then_a, NULL);
    add_holding(&a, &b);
    pthread_join(thread, NULL);
    printf("total %d\n", total);
    return 0;
}
