// Three threads work in rounds: write the own cell, meet, read the neighbour's cell, meet again. The
// one thread that the barrier names serial counts the rounds.
//
// NORACE
// EXPECT-STDOUT: rounds 3 sum 9
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3, ROUNDS = 3 };

int cell[THREADS];
int sums[THREADS];
int rounds;
pthread_barrier_t barrier;

static void *worker(void *arg) {
    int me = *(int *)arg;
    for (int round = 0; round < ROUNDS; round++) {
        cell[me] = round; // NORACE: cell
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            rounds++; // NORACE: rounds
        sums[me] += cell[(me + 1) % THREADS]; // NORACE: cell
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int ids[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        ids[i] = i;
        pthread_create(&threads[i], NULL, worker, &ids[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("rounds %d sum %d\n", rounds, sums[0] + sums[1] + sums[2]);
    pthread_barrier_destroy(&barrier);
    return 0;
}
