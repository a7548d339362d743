// Opposite nesting, but of read locks only: readers never keep each other out, and there is no writer.
// (Stock TSan reports a lock-order inversion.)
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: sums 3 3
#include <pthread.h>
#include <stdio.h>

int a_value = 1, b_value = 2;
int sum_ab, sum_ba;
pthread_rwlock_t a = PTHREAD_RWLOCK_INITIALIZER;
pthread_rwlock_t b = PTHREAD_RWLOCK_INITIALIZER;

static void *b_then_a(void *arg) {
    (void)arg;
    pthread_rwlock_rdlock(&b);
    pthread_rwlock_rdlock(&a);
    sum_ba = a_value + b_value;
    pthread_rwlock_unlock(&a);
    pthread_rwlock_unlock(&b);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, b_then_a, NULL);
    pthread_rwlock_rdlock(&a);
    pthread_rwlock_rdlock(&b);
    sum_ab = a_value + b_value;
    pthread_rwlock_unlock(&b);
    pthread_rwlock_unlock(&a);
    pthread_join(thread, NULL);
    printf("sums %d %d\n", sum_ab, sum_ba);
    return 0;
}
