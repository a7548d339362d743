// Opposite nesting in two threads that are never alive together: main nests one way before it starts
// the thread and after it has joined it. (Stock TSan reports a lock-order inversion.)
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: total 3
#include <pthread.h>
#include <stdio.h>

int total;
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

static void add_holding(pthread_mutex_t *outer, pthread_mutex_t *inner) {
    pthread_mutex_lock(outer);
    pthread_mutex_lock(inner);
    total++; // NORACE: total
    pthread_mutex_unlock(inner);
    pthread_mutex_unlock(outer);
}

static void *b_then_a(void *arg) {
    (void)arg;
    add_holding(&b, &a);
    return NULL;
}

int main(void) {
    pthread_t thread;
    add_holding(&a, &b);
    pthread_create(&thread, NULL, b_then_a, NULL);
    pthread_join(thread, NULL);
    add_holding(&a, &b);
    printf("total %d\n", total);
    return 0;
}
