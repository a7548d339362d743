/* A Fourier transform in six steps: the numbers as a square, whose rows are transformed between transpositions, with
   barriers. After the manner of fft. SIZE is the side of the square, a power of two. */
#include "kernel.h"

#include <complex.h>
#include <math.h>

static double complex *data, *other, *roots;
static pthread_barrier_t barrier;

static void row(double complex *numbers) {
    for (long i = 1, j = 0; i < size; i++) {
        long bit = size >> 1;
        for (; j & bit; bit >>= 1) {
            j ^= bit;
        }
        j ^= bit;
        if (i < j) {
            double complex one = numbers[i];
            numbers[i] = numbers[j];
            numbers[j] = one;
        }
    }
    for (long length = 2; length <= size; length *= 2) {
        for (long base = 0; base < size; base += length) {
            for (long k = 0; k < length / 2; k++) {
                double complex a = numbers[base + k];
                double complex b = numbers[base + k + length / 2] * roots[k * (size / length)];
                numbers[base + k] = a + b;
                numbers[base + k + length / 2] = a - b;
            }
        }
    }
}

static void transpose(double complex *to, const double complex *from, long begin, long end) {
    for (long y = begin; y < end; y++) {
        for (long x = 0; x < size; x++) {
            to[y * size + x] = from[x * size + y];
        }
    }
}

static void *work(void *number) {
    long me = (long)number, begin = first_of(size, me), end = first_of(size, me + 1);
    transpose(other, data, begin, end);
    pthread_barrier_wait(&barrier);
    for (long y = begin; y < end; y++) {
        row(&other[y * size]);
        for (long x = 0; x < size; x++) {
            double angle = -2 * M_PI * (double)(x * y) / (double)(size * size);
            other[y * size + x] *= cos(angle) + I * sin(angle);
        }
    }
    pthread_barrier_wait(&barrier);
    transpose(data, other, begin, end);
    pthread_barrier_wait(&barrier);
    for (long y = begin; y < end; y++) {
        row(&data[y * size]);
    }
    pthread_barrier_wait(&barrier);
    transpose(other, data, begin, end);
    return NULL;
}

int main(int count, char **given) {
    arguments(count, given, 2048);
    while (size & (size - 1)) {
        size &= size - 1;
    }
    data = allocated((size_t)(size * size), sizeof *data);
    other = allocated((size_t)(size * size), sizeof *other);
    roots = allocated((size_t)size, sizeof *roots);
    uint64_t state = 17;
    for (long at = 0; at < size * size; at++) {
        data[at] = next_part(&state);
    }
    for (long k = 0; k < size; k++) {
        double angle = -2 * M_PI * (double)k / (double)size;
        roots[k] = cos(angle) + I * sin(angle);
    }
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    in_threads(work);
    printf("fft: %.3f\n", creal(other[0]) / (double)(size * size));
    return 0;
}
