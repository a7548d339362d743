/* A grid that settles: red points from black ones and the other way round, with barriers between, until little
   changes. After the manner of ocean. */
#include "kernel.h"

#include <math.h>

static double **grid;
static double change;
static int is_over, rounds;
static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static double sweep(long from, long to, long colour) {
    double most = 0;
    for (long y = from; y < to; y++) {
        for (long x = 1 + (y + colour) % 2; x <= size; x += 2) {
            double sum = grid[y - 1][x] + grid[y + 1][x] + grid[y][x - 1] + grid[y][x + 1];
            double next = grid[y][x] + 1.2 * (sum / 4 - grid[y][x]);
            most = fmax(most, fabs(next - grid[y][x]));
            grid[y][x] = next;
        }
    }
    return most;
}

static void *work(void *number) {
    long me = (long)number, from = 1 + first_of(size, me), to = 1 + first_of(size, me + 1);
    for (;;) {
        double mine = sweep(from, to, 0);
        pthread_barrier_wait(&barrier);
        mine = fmax(mine, sweep(from, to, 1));
#ifdef RACE
        change = fmax(change, mine); /* RACE! the lock was forgotten */
#else
        pthread_mutex_lock(&lock);
        change = fmax(change, mine);
        pthread_mutex_unlock(&lock);
#endif
        pthread_barrier_wait(&barrier);
        if (me == 0) {
            is_over = ++rounds == 160 || change < 1e-9;
            change = 0;
        }
        pthread_barrier_wait(&barrier);
        if (is_over) {
            return NULL;
        }
    }
}

int main(int count, char **given) {
    arguments(count, given, 1000);
    grid = allocated((size_t)size + 2, sizeof *grid);
    for (long y = 0; y < size + 2; y++) {
        grid[y] = allocated((size_t)size + 2, sizeof **grid);
        grid[y][0] = (double)y / (double)size;
        grid[y][size + 1] = 1;
    }
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    in_threads(work);
    printf("ocean: %.6f after %d\n", grid[size / 2][size / 2], rounds);
    return 0;
}
