// After "interleave", table 2, lu-non: a matrix is taken apart into a lower and an upper one, in blocks. The matrix lies in memory row by row, so that numbers of different threads are neighbours.
//
// Verdict: in every step the owner of a block changes it, and reads blocks that were finished before the last meeting at the barrier: first the block on the diagonal, then those
// in its row and column, then all others. Main fills the matrix before and reads it after.
//
// NORACE
// EXPECT-STDOUT: lower times upper is the matrix
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 2, MOST_BLOCKS = 32, MOST = BLOCK * MOST_BLOCKS, THREADS = 2 };

int blocks; // in a row
double matrix[MOST][MOST];

static double *at(int row, int column) {
    return &matrix[row][column];
}

pthread_barrier_t meeting;

static int owner(int row, int column) {
    return (row + column) % THREADS;
}

// Takes multiples of a row above from the rows below it, for one block: rows and columns of the block that come after k.
static void eliminate(int block_row, int block_column, int k) {
    for (int i = block_row * BLOCK; i < (block_row + 1) * BLOCK; i++) {
        if (i <= k)
            continue;
        for (int j = block_column * BLOCK; j < (block_column + 1) * BLOCK; j++) {
            if (j > k)
                *at(i, j) -= *at(i, k) * *at(k, j); // NORACE: matrix
        }
    }
}

// Divides what is below the diagonal in column k of a block.
static void divide(int block_row, int k) {
    for (int i = block_row * BLOCK; i < (block_row + 1) * BLOCK; i++) {
        if (i > k)
            *at(i, k) /= *at(k, k); // NORACE: matrix
    }
}

static void *worker(void *arg) {
    int me = *(int *)arg;
    for (int step = 0; step < blocks; step++) {
        int first = step * BLOCK;
        if (owner(step, step) == me) {
            for (int k = first; k < first + BLOCK; k++) {
                divide(step, k);
                eliminate(step, step, k);
            }
        }
        pthread_barrier_wait(&meeting);
        for (int other = step + 1; other < blocks; other++) {
            for (int k = first; k < first + BLOCK; k++) {
                if (owner(other, step) == me) {
                    divide(other, k);
                    eliminate(other, step, k);
                }
                if (owner(step, other) == me)
                    eliminate(step, other, k);
            }
        }
        pthread_barrier_wait(&meeting);
        for (int row = step + 1; row < blocks; row++) {
            for (int column = step + 1; column < blocks; column++) {
                for (int k = first; k < first + BLOCK && owner(row, column) == me; k++)
                    eliminate(row, column, k);
            }
        }
        pthread_barrier_wait(&meeting);
    }
    return NULL;
}

static double original(int i, int j) {
    return i == j ? 10 + i : 1.0 / (1 + i + j);
}

int main(int argc, char **argv) {
    blocks = argc > 1 ? atoi(argv[1]) : 3;
    if (blocks < 1 || blocks > MOST_BLOCKS)
        return 2;
    int size = blocks * BLOCK;
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            *at(i, j) = original(i, j);
    pthread_barrier_init(&meeting, NULL, THREADS);
    pthread_t threads[THREADS];
    int names[THREADS];
    for (int i = 0; i < THREADS; i++) {
        names[i] = i;
        pthread_create(&threads[i], NULL, worker, &names[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    double worst = 0;
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) {
            double sum = 0;
            for (int k = 0; k <= i && k <= j; k++)
                sum += (k == i ? 1 : *at(i, k)) * *at(k, j); // NORACE: matrix
            double off = sum - original(i, j);
            worst = off > worst ? off : -off > worst ? -off : worst;
        }
    }
    printf("%s\n", worst < 1e-9 ? "lower times upper is the matrix" : "something else");
    return 0;
}
