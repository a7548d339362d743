// A failed trylock tells that the worker is at work, so that its preparation is over: it holds `working` only
// after that. The reader then passes `prepared` once, behind the worker, and reads without a lock. When the trylock succeeds, it
// does not touch the data. Whoever takes a failed trylock for nothing sees the reader pass `prepared` first, and a race.
//
// NORACE
#include <pthread.h>

enum { STEPS = 20 };

int data;
int seen;
int done;
pthread_mutex_t prepared = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t working = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
    (void)arg;
    pthread_mutex_lock(&prepared);
    data = 1; // NORACE: data
    pthread_mutex_unlock(&prepared);
    pthread_mutex_lock(&working);
    for (int i = 0; i < STEPS; i++)
        done++;
    pthread_mutex_unlock(&working);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    if (pthread_mutex_trylock(&working) == 0) {
        pthread_mutex_unlock(&working);
    } else {
        pthread_mutex_lock(&prepared);
        pthread_mutex_unlock(&prepared);
        seen = data; // NORACE: data
    }
    pthread_join(thread, NULL);
    return 0;
}
