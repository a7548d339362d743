// Quicksort: two threads, each half of an array, then a merge check; recursion, no
// synchronisation inside.
//
// NORACE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int n = 1 << 19;
static int *data;

static void sort(int *from, int *to) {
    while (to - from > 1) {
        int pivot = from[(to - from) / 2]; // NORACE: data
        int *i = from, *j = to - 1;
        while (i <= j) {
            while (*i < pivot) // NORACE: data
                i++;
            while (*j > pivot) // NORACE: data
                j--;
            if (i <= j) {
                int swap = *i; // NORACE: data
                *i++ = *j; // NORACE: data
                *j-- = swap; // NORACE: data
            }
        }
        if (j + 1 - from < to - i) {
            sort(from, j + 1);
            from = i;
        } else {
            sort(i, to);
            to = j + 1;
        }
    }
}

static void *half(void *arg) {
    long part = (long)arg;
    sort(data + part * (n / 2), data + (part + 1) * (n / 2));
    return 0;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    data = malloc(n * sizeof *data);
    long sum = 0;
    for (int round = 0; round < rounds; round++) {
        unsigned state = 12345 + round;
        for (int i = 0; i < n; i++)
            data[i] = (state = state * 1664525u + 1013904223u) >> 8; // NORACE: data
        pthread_t threads[2];
        for (long t = 0; t < 2; t++)
            pthread_create(&threads[t], 0, half, (void *)t);
        for (int t = 0; t < 2; t++)
            pthread_join(threads[t], 0);
        sum += data[n / 4] + data[n - 1]; // NORACE: data
    }
    printf("%ld\n", sum);
    return 0;
}
