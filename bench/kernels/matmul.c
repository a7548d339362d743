// Matrix multiply: two threads, each half of the rows; plain loops, no synchronisation inside.
//
// NORACE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int n = 256;
static double *a, *b, *c;

static void *rows(void *arg) {
    long part = (long)arg;
    for (int i = part * n / 2; i < (part + 1) * n / 2; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j]; // NORACE: a
            c[i * n + j] = sum; // NORACE: c
        }
    return 0;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    a = malloc(n * n * sizeof *a);
    b = malloc(n * n * sizeof *b);
    c = malloc(n * n * sizeof *c);
    for (int i = 0; i < n * n; i++) {
        a[i] = i % 7; // NORACE: a
        b[i] = i % 5; // NORACE: b
    }
    for (int round = 0; round < rounds; round++) {
        pthread_t threads[2];
        for (long t = 0; t < 2; t++)
            pthread_create(&threads[t], 0, rows, (void *)t);
        for (int t = 0; t < 2; t++)
            pthread_join(threads[t], 0);
    }
    double sum = 0;
    for (int i = 0; i < n * n; i++)
        sum += c[i]; // NORACE: c
    printf("%.0f\n", sum);
    return 0;
}
