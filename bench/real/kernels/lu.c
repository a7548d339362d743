/* A matrix is taken apart into a lower and an upper one, block by block, with barriers between the three parts of
   each step. After the manner of lu. */
#include "kernel.h"

#include <math.h>

enum { BLOCK = 16 };

static double *matrix;
static long blocks;
static pthread_barrier_t barrier;

static double *at(long row, long column) {
    return &matrix[row * size + column];
}

static int is_mine(long me, long row, long column) {
    return (row * blocks + column) % threads == me;
}

static void diagonal(long step) {
    long base = step * BLOCK;
    for (long k = base; k < base + BLOCK; k++) {
        for (long row = k + 1; row < base + BLOCK; row++) {
            double part = *at(row, k) /= *at(k, k);
            for (long column = k + 1; column < base + BLOCK; column++) {
                *at(row, column) -= part * *at(k, column);
            }
        }
    }
}

static void edge(long step, long other, int is_row) {
    long base = step * BLOCK, far = other * BLOCK;
    for (long k = base; k < base + BLOCK; k++) {
        for (long i = far; i < far + BLOCK; i++) {
            if (!is_row) {
                *at(i, k) /= *at(k, k);
            }
            for (long j = k + 1; j < base + BLOCK; j++) {
                if (is_row) {
                    *at(j, i) -= *at(j, k) * *at(k, i);
                } else {
                    *at(i, j) -= *at(i, k) * *at(k, j);
                }
            }
        }
    }
}

static void inner(long step, long row, long column) {
    for (long i = row * BLOCK; i < (row + 1) * BLOCK; i++) {
        for (long k = step * BLOCK; k < (step + 1) * BLOCK; k++) {
            double part = *at(i, k);
            for (long j = column * BLOCK; j < (column + 1) * BLOCK; j++) {
                *at(i, j) -= part * *at(k, j);
            }
        }
    }
}

static void *work(void *number) {
    long me = (long)number;
    for (long step = 0; step < blocks; step++) {
        if (is_mine(me, step, step)) {
            diagonal(step);
        }
        pthread_barrier_wait(&barrier);
        for (long other = step + 1; other < blocks; other++) {
            if (is_mine(me, step, other)) {
                edge(step, other, 1);
            }
            if (is_mine(me, other, step)) {
                edge(step, other, 0);
            }
        }
        pthread_barrier_wait(&barrier);
        for (long row = step + 1; row < blocks; row++) {
            for (long column = step + 1; column < blocks; column++) {
                if (is_mine(me, row, column)) {
                    inner(step, row, column);
                }
            }
        }
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int count, char **given) {
    arguments(count, given, 1600);
    blocks = size < BLOCK ? 1 : size / BLOCK;
    size = blocks * BLOCK;
    matrix = allocated((size_t)(size * size), sizeof *matrix);
    uint64_t state = 13;
    for (long row = 0; row < size; row++) {
        for (long column = 0; column < size; column++) {
            *at(row, column) = next_part(&state) + (row == column ? (double)size : 0);
        }
    }
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    in_threads(work);
    double sum = 0;
    for (long k = 0; k < size; k++) {
        sum += log(fabs(*at(k, k)));
    }
    printf("lu: %.6f\n", sum);
    return 0;
}
