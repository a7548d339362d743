// The waiter peeks at the predicate before it takes the mutex, to see whether it will have to wait.
#include <pthread.h>
#include <stdbool.h>

bool ready;
int waits;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *producer(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    ready = true; // RACE: ready with line 22
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    if (!ready) // RACE: ready with line 13
        waits++;
    pthread_mutex_lock(&lock);
    while (!ready) // NORACE: ready
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
