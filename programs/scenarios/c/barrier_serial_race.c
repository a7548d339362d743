// After a barrier the serial thread adds up all cells. The second barrier that should hold the other one back
// is missing: it goes on to its cell for the next round, under a lock that the sum does not take.
//
#include <pthread.h>

int cells[2], sum, rounds;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_barrier_t written;

static void *work(void *arg) {
    int mine = arg != NULL;
    cells[mine] = 1; // NORACE: cells
    if (pthread_barrier_wait(&written) == PTHREAD_BARRIER_SERIAL_THREAD)
        sum = cells[0] + cells[1]; // RACE: cells with line 17
    pthread_mutex_lock(&lock);
    rounds++; // NORACE: rounds
    cells[mine] = 2; // RACE: cells with line 14
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&written, NULL, 2);
    pthread_create(&thread, NULL, work, NULL);
    work(&thread);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&written);
    return 0;
}
