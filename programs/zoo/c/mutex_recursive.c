// A recursive mutex taken again by a helper while the caller already holds it. Only the outermost
// unlock releases it.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: total 40
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 10 };

int total;
pthread_mutex_t lock;

static void add(void) {
    pthread_mutex_lock(&lock);
    total++; // NORACE: total
    pthread_mutex_unlock(&lock);
}

static void *adder(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        add();
        total++; // NORACE: total
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attributes);
    pthread_mutexattr_destroy(&attributes);

    pthread_t first, second;
    pthread_create(&first, NULL, adder, NULL);
    pthread_create(&second, NULL, adder, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("total %d\n", total);
    pthread_mutex_destroy(&lock);
    return 0;
}
