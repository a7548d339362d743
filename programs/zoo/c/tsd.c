// Thread-specific data with a destructor: every thread counts for itself, and its destructor adds the
// count to the total, under a mutex, when the thread ends.
//
// NORACE
// EXPECT-STDOUT: total 15
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, ROUNDS = 5 };

int total;
pthread_key_t key;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void settle(void *value) {
    int *count = value;
    pthread_mutex_lock(&lock);
    total += *count; // NORACE: total
    pthread_mutex_unlock(&lock);
    free(count);
}

static void *counter(void *arg) {
    (void)arg;
    pthread_setspecific(key, calloc(1, sizeof(int)));
    for (int i = 0; i < ROUNDS; i++)
        ++*(int *)pthread_getspecific(key);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_key_create(&key, settle);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, counter, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("total %d\n", total); // NORACE: total
    pthread_key_delete(key);
    return 0;
}
