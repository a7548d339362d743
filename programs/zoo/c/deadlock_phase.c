// Opposite orders that can never overlap, because of what the program reads: main nests the mutexes
// only when it has seen phase 1, and the thread announces phase 1 when it is through. (Stock TSan
// reports a lock-order inversion when it has seen both.)
//
// NORACE
// NODEADLOCK
#include <pthread.h>

int phase;
int total;
pthread_mutex_t phase_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

static void *a_then_b(void *arg) {
    (void)arg;
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    total++; // NORACE: total
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_mutex_lock(&phase_lock);
    phase = 1; // NORACE: phase
    pthread_mutex_unlock(&phase_lock);
    return NULL;
}

static void *nothing(void *arg) {
    return arg;
}

// Meanwhile the other thread usually gets through, but nothing makes it.
static void dawdle(void) {
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, nothing, NULL);
        pthread_join(thread, NULL);
    }
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, a_then_b, NULL);
    dawdle();
    pthread_mutex_lock(&phase_lock);
    int seen = phase; // NORACE: phase
    pthread_mutex_unlock(&phase_lock);
    if (seen == 1) {
        pthread_mutex_lock(&b);
        pthread_mutex_lock(&a);
        total++; // NORACE: total
        pthread_mutex_unlock(&a);
        pthread_mutex_unlock(&b);
    }
    pthread_join(thread, NULL);
    return 0;
}
