// As in barrier.c, but with one meeting per round: a fast thread writes its cell for the next round
// while a slow neighbour still reads the last one.
#include <pthread.h>

enum { THREADS = 2, ROUNDS = 3 };

int cell[THREADS];
int sums[THREADS];
pthread_barrier_t barrier;

static void *worker(void *arg) {
    int me = *(int *)arg;
    for (int round = 0; round < ROUNDS; round++) {
        cell[me] = round; // RACE: cell with line 16
        pthread_barrier_wait(&barrier);
        sums[me] += cell[(me + 1) % THREADS]; // RACE: cell with line 14
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
    return 0;
}
