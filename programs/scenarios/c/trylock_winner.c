// Whoever gets the mutex by trying is the winner and never gives it back while the others run: it alone writes the
// prize. Losers do not wait and do not touch it; main reads it behind the joins. The writes are under the
// mutex, the read is not.
//
// NORACE
// EXPECT-STDOUT: winners 1
#include <pthread.h>
#include <stdio.h>

int winners;
pthread_mutex_t prize = PTHREAD_MUTEX_INITIALIZER;

static void *contend(void *arg) {
    if (pthread_mutex_trylock(&prize) == 0)
        winners++; // NORACE: winners
    return arg;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, contend, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("winners %d\n", winners); // NORACE: winners
    return 0;
}
