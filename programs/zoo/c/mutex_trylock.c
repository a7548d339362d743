// Two threads enter a critical section with trylock only: they ask again until they get the mutex.
//
// NORACE
// EXPECT-STDOUT: total 20
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { ROUNDS = 10 };

int total;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *adder(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        while (pthread_mutex_trylock(&lock) != 0)
            sched_yield();
        total++; // NORACE: total
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, adder, NULL);
    pthread_create(&second, NULL, adder, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("total %d\n", total);
    return 0;
}
