// Two buffers that change places: in each round both threads write the new one and read the old one, and
// whoever the barrier calls the serial thread swaps them while the other waits at a second barrier.
//
// NORACE
// EXPECT-STDOUT: swaps 3
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 3 };
int buffers[2][2];
int current, swaps;
pthread_barrier_t written, swapped;

static void *work(void *arg) {
    int mine = arg != NULL;
    for (int round = 0; round < ROUNDS; round++) {
        int other = buffers[current][!mine]; // NORACE: buffers, current
        buffers[!current][mine] = other + 1; // NORACE: buffers, current
        if (pthread_barrier_wait(&written) == PTHREAD_BARRIER_SERIAL_THREAD) {
            current = !current; // NORACE: current
            swaps++; // NORACE: swaps
        }
        pthread_barrier_wait(&swapped);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&written, NULL, 2);
    pthread_barrier_init(&swapped, NULL, 2);
    pthread_create(&thread, NULL, work, NULL);
    work(&thread);
    pthread_join(thread, NULL);
    printf("swaps %d\n", swaps);
    pthread_barrier_destroy(&written);
    pthread_barrier_destroy(&swapped);
    return 0;
}
