// Opposite orders, but one side only tries for its second mutex and lets go of the first when it does
// not get it: it never waits while it holds something.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: total 2
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

int total;
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

static void *polite(void *arg) {
    (void)arg;
    pthread_mutex_lock(&b);
    while (pthread_mutex_trylock(&a) != 0) {
        pthread_mutex_unlock(&b);
        sched_yield();
        pthread_mutex_lock(&b);
    }
    total++; // NORACE: total
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, polite, NULL);
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    total++; // NORACE: total
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_join(thread, NULL);
    printf("total %d\n", total);
    return 0;
}
