// Opposite orders of two locks, kept apart by a semaphore that the one posts behind its part and the other takes
// before its own. (Stock TSan reports a lock-order inversion.)
//
// NORACE
// NODEADLOCK
#include <pthread.h>
#include <semaphore.h>

int total;
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
sem_t through;

static void add_holding(pthread_mutex_t *outer, pthread_mutex_t *inner) {
    pthread_mutex_lock(outer);
    pthread_mutex_lock(inner);
    total++; // NORACE: total
    pthread_mutex_unlock(inner);
    pthread_mutex_unlock(outer);
}

static void *first(void *arg) {
    add_holding(&a, &b);
    sem_post(&through);
    return arg;
}

int main(void) {
    pthread_t thread;
    sem_init(&through, 0, 0);
    pthread_create(&thread, NULL, first, NULL);
    sem_wait(&through);
    add_holding(&b, &a);
    pthread_join(thread, NULL);
    sem_destroy(&through);
    return 0;
}
