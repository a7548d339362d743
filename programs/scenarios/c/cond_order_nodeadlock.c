// Opposite orders, but main nests its locks only when a condition has told it that the thread is through with
// its own. (Stock TSan reports a lock-order inversion.)
//
// NORACE
// NODEADLOCK
#include <pthread.h>
#include <stdbool.h>

bool through;
int total;
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void add_holding(pthread_mutex_t *outer, pthread_mutex_t *inner) {
    pthread_mutex_lock(outer);
    pthread_mutex_lock(inner);
    total++; // NORACE: total
    pthread_mutex_unlock(inner);
    pthread_mutex_unlock(outer);
}

static void *first(void *arg) {
    add_holding(&a, &b);
    pthread_mutex_lock(&lock);
    through = true; // NORACE: through
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, first, NULL);
    pthread_mutex_lock(&lock);
    while (!through) // NORACE: through
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    add_holding(&b, &a);
    pthread_join(thread, NULL);
    return 0;
}
