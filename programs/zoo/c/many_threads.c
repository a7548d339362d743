// Two hundred short-lived threads, a few at a time, each adding one under a mutex.
//
// NORACE
// EXPECT-STDOUT: total 200
#include <pthread.h>
#include <stdio.h>

enum { BATCHES = 20, BATCH = 10 };

int total;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *adder(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    total++; // NORACE: total
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[BATCH];
    for (int batch = 0; batch < BATCHES; batch++) {
        for (int i = 0; i < BATCH; i++)
            pthread_create(&threads[i], NULL, adder, NULL);
        for (int i = 0; i < BATCH; i++)
            pthread_join(threads[i], NULL);
    }
    printf("total %d\n", total); // NORACE: total
    return 0;
}
