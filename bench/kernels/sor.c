// Successive over-relaxation of a grid: two threads, each half of the rows, first all red points, then
// all black ones, with a barrier behind each. The rows at the border are read by one thread and
// written by the other, in different phases and without a lock.
//
// NORACE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 130, SWEEPS = 20, THREADS = 2 };

double grid[SIZE][SIZE];
double change[THREADS];
double total_change;
int sweeps = SWEEPS;
pthread_barrier_t barrier;

static double relax(int row, int first) {
    double moved = 0;
    for (int column = first; column < SIZE - 1; column += 2) {
        double around = grid[row - 1][column] + grid[row + 1][column]; // NORACE: grid
        around += grid[row][column - 1] + grid[row][column + 1]; // NORACE: grid
        double by = 1.25 * (around / 4 - grid[row][column]); // NORACE: grid
        grid[row][column] += by; // NORACE: grid
        moved += by < 0 ? -by : by;
    }
    return moved;
}

static void *work(void *arg) {
    long me = (long)arg;
    int rows = (SIZE - 2) / THREADS;
    for (int sweep = 0; sweep < sweeps; sweep++) {
        double moved = 0;
        for (int colour = 0; colour < 2; colour++) {
            for (int row = 1 + me * rows; row < 1 + (me + 1) * rows; row++)
                moved += relax(row, 1 + (row + colour) % 2);
            pthread_barrier_wait(&barrier);
        }
        change[me] = moved; // NORACE: change
        pthread_barrier_wait(&barrier);
        if (me == 0)
            for (int t = 0; t < THREADS; t++)
                total_change += change[t]; // NORACE: change
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1)
        sweeps *= atoi(argv[1]);
    for (int i = 0; i < SIZE; i++)
        grid[0][i] = grid[i][0] = i; // NORACE: grid
    pthread_barrier_init(&barrier, 0, THREADS);
    pthread_t threads[THREADS];
    for (long t = 0; t < THREADS; t++)
        pthread_create(&threads[t], 0, work, (void *)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], 0);
    printf("%.0f %.3f\n", total_change, grid[SIZE / 2][SIZE / 2]); // NORACE: grid
    return 0;
}
