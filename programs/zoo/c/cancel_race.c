// As in cancel.c, but the cleanup handler releases the mutex first and counts afterwards.
#include <pthread.h>
#include <stdbool.h>

bool waiting;
int cleaned;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t started = PTHREAD_COND_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void clean_up(void *arg) {
    pthread_mutex_unlock(arg);
    cleaned++; // RACE: cleaned with line 37
}

static void *waiter(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(clean_up, &lock);
    waiting = true;
    pthread_cond_signal(&started);
    for (;;)
        pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, waiter, NULL);
    pthread_mutex_lock(&lock);
    while (!waiting)
        pthread_cond_wait(&started, &lock);
    pthread_mutex_unlock(&lock);
    pthread_cancel(thread);
    pthread_mutex_lock(&lock);
    cleaned++; // RACE: cleaned with line 13
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
