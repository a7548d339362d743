// Each thread writes its own table and then wants to read the other's. A reader has to wait for a writer, so
// the cycle closes although neither asks for what is not its own to write.
//
// NORACE
#include <pthread.h>

int a_value, b_value;
pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER;
pthread_rwlock_t b = PTHREAD_RWLOCK_INITIALIZER;

static void *write_a(void *arg) {
    pthread_rwlock_wrlock(&a);
    pthread_rwlock_rdlock(&b); // DEADLOCK: waits for b holding a, with line 38
    a_value = b_value + 1;
    pthread_rwlock_unlock(&b);
    pthread_rwlock_unlock(&a);
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
    pthread_create(&thread, NULL, write_a, NULL);
    dawdle();
    pthread_rwlock_wrlock(&b);
    pthread_rwlock_rdlock(&a); // DEADLOCK: waits for a holding b, with line 13
    b_value = a_value + 1;
    pthread_rwlock_unlock(&a);
    pthread_rwlock_unlock(&b);
    pthread_join(thread, NULL);
    return 0;
}
