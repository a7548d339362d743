// A thread is cancelled while it waits for a condition. The wait takes the mutex back before the
// cleanup handler runs, and the handler releases it.
//
// NORACE
// EXPECT-STDOUT: cleaned 1
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

bool waiting;
int cleaned;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t started = PTHREAD_COND_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void clean_up(void *arg) {
    cleaned++; // NORACE: cleaned
    pthread_mutex_unlock(arg);
}

static void *waiter(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(clean_up, &lock);
    waiting = true; // NORACE: waiting
    pthread_cond_signal(&started);
    for (;;)
        pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, waiter, NULL);
    pthread_mutex_lock(&lock);
    while (!waiting) // NORACE: waiting
        pthread_cond_wait(&started, &lock);
    pthread_mutex_unlock(&lock);
    pthread_cancel(thread);
    pthread_mutex_lock(&lock);
    cleaned += 0; // NORACE: cleaned
    pthread_mutex_unlock(&lock);
    pthread_join(thread, &result);
    assert(result == PTHREAD_CANCELED);
    printf("cleaned %d\n", cleaned); // NORACE: cleaned
    return 0;
}
