// The GNU adaptive mutex, which spins a little before it sleeps.
//
// NORACE
// EXPECT-STDOUT: total 20
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 10 };

int total;
pthread_mutex_t lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;

static void *adder(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
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
