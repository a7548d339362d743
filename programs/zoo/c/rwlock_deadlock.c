// Each thread reads one table and then wants to write the other, in opposite directions. A writer has
// to wait for readers, so the shared holds close a cycle just as exclusive ones would.
//
// NORACE
#include <pthread.h>

int a_value, b_value;
pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER;
pthread_rwlock_t b = PTHREAD_RWLOCK_INITIALIZER;

static void *b_to_a(void *arg) {
    (void)arg;
    pthread_rwlock_rdlock(&b);
    pthread_rwlock_wrlock(&a); // DEADLOCK: waits for a holding b, with line 39
    a_value = b_value;
    pthread_rwlock_unlock(&a);
    pthread_rwlock_unlock(&b);
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
    pthread_create(&thread, NULL, b_to_a, NULL);
    dawdle();
    pthread_rwlock_rdlock(&a);
    pthread_rwlock_wrlock(&b); // DEADLOCK: waits for b holding a, with line 14
    b_value = a_value;
    pthread_rwlock_unlock(&b);
    pthread_rwlock_unlock(&a);
    pthread_join(thread, NULL);
    return 0;
}
