// A value handed over under a mutex with a condition variable and a predicate in a loop.
//
// NORACE
// EXPECT-STDOUT: got 42
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

int value;
bool ready;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *producer(void *arg) {
    (void)arg;
    value = 42; // NORACE: value
    pthread_mutex_lock(&lock);
    ready = true; // NORACE: ready
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    pthread_mutex_lock(&lock);
    while (!ready) // NORACE: ready
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    printf("got %d\n", value); // NORACE: value
    pthread_join(thread, NULL);
    return 0;
}
