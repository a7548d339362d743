// Opposite orders behind a gate, but the gate is a read-write lock and both only read it: it lets both in.
//
// NORACE
#include <pthread.h>

int total;
pthread_rwlock_t gate = PTHREAD_RWLOCK_INITIALIZER;
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

static void *b_then_a(void *arg) {
    pthread_rwlock_rdlock(&gate);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a); // DEADLOCK: waits for a holding b, with line 41
    total++; // NORACE: total
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    pthread_rwlock_unlock(&gate);
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
    pthread_rwlock_rdlock(&gate);
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b); // DEADLOCK: waits for b holding a, with line 14
    total++; // NORACE: total
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_rwlock_unlock(&gate);
    pthread_join(thread, NULL);
    return 0;
}
