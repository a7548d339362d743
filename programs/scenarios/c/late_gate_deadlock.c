// Opposite orders behind a gate that both let go of too early: between the first lock and the second. The
// gate keeps them from taking their first locks at once, not from holding them at once.
//
// NORACE
#include <pthread.h>

int total;
pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

static void add_holding(pthread_mutex_t *outer, pthread_mutex_t *inner) {
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(outer);
    pthread_mutex_unlock(&gate);
    pthread_mutex_lock(inner); // DEADLOCK: waits for inner holding inner, with line 16
    total++; // NORACE: total
    pthread_mutex_unlock(inner);
    pthread_mutex_unlock(outer);
}

static void *b_then_a(void *arg) {
    add_holding(&b, &a);
    return arg;
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
    pthread_create(&thread, NULL, b_then_a, NULL);
    dawdle();
    add_holding(&a, &b);
    pthread_join(thread, NULL);
    return 0;
}
