// Opposite orders again, but whoever nests the two mutexes holds a third one, the gate, around them.
// (Stock TSan reports a lock-order inversion.)
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: total 2
#include <pthread.h>
#include <stdio.h>

int total;
pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

static void *b_then_a(void *arg) {
    (void)arg;
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    total++; // NORACE: total
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&gate);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, b_then_a, NULL);
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    total++; // NORACE: total
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&gate);
    pthread_join(thread, NULL);
    printf("total %d\n", total);
    return 0;
}
