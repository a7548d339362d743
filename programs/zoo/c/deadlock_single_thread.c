// One thread nests the two mutexes both ways, one after the other; the other thread never nests them.
// A cycle in the lock order needs two threads to close it. (Stock TSan reports one thread's.)
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: totals 3 3
#include <pthread.h>
#include <stdio.h>

int a_total, b_total;
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

static void *one_by_one(void *arg) {
    (void)arg;
    pthread_mutex_lock(&b);
    b_total++; // NORACE: b_total
    pthread_mutex_unlock(&b);
    pthread_mutex_lock(&a);
    a_total++; // NORACE: a_total
    pthread_mutex_unlock(&a);
    return NULL;
}

static void add_both(pthread_mutex_t *outer, pthread_mutex_t *inner) {
    pthread_mutex_lock(outer);
    pthread_mutex_lock(inner);
    a_total++; // NORACE: a_total
    b_total++; // NORACE: b_total
    pthread_mutex_unlock(inner);
    pthread_mutex_unlock(outer);
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, one_by_one, NULL);
    add_both(&a, &b);
    add_both(&b, &a);
    pthread_join(thread, NULL);
    printf("totals %d %d\n", a_total, b_total);
    return 0;
}
