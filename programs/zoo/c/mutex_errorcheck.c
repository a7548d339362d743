// An error-checking mutex refuses what would otherwise be wrong: the owner's second lock returns
// EDEADLK and an unlock by a thread that does not own it returns EPERM. Neither changes the mutex.
// (Stock TSan reports the refused unlock, because it looks before the call is made.)
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: total 20
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 10 };

int total;
pthread_mutex_t lock;

static void *adder(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        int again = pthread_mutex_lock(&lock);
        assert(again == EDEADLK);
        total++; // NORACE: total
        pthread_mutex_unlock(&lock);
        int not_mine = pthread_mutex_unlock(&lock);
        assert(not_mine == EPERM);
    }
    return NULL;
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&lock, &attributes);

    pthread_t first, second;
    pthread_create(&first, NULL, adder, NULL);
    pthread_create(&second, NULL, adder, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("total %d\n", total);
    return 0;
}
