/* What the kernels have in common: arguments, threads, and numbers that are the same in every run. */
#ifndef KERNEL_H
#define KERNEL_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 64 };

static int threads;
static long size;

static inline void arguments(int count, char **given, long usual) {
    threads = count > 1 ? atoi(given[1]) : 4;
    size = count > 2 ? atol(given[2]) : usual;
    if (threads < 1 || threads > MOST_THREADS || size < 1) {
        fprintf(stderr, "usage: %s [THREADS] [SIZE]\n", given[0]);
        exit(2);
    }
}

/* Runs `work` in all threads, with their numbers, and waits for them. */
static inline void in_threads(void *(*work)(void *)) {
    pthread_t all[MOST_THREADS];
    for (long number = 0; number < threads; number++) {
        if (pthread_create(&all[number], NULL, work, (void *)number) != 0) {
            exit(3);
        }
    }
    for (int number = 0; number < threads; number++) {
        pthread_join(all[number], NULL);
    }
}

/* The first of `many` things that are a thread's own; those of the next begin where they end. */
static inline long first_of(long many, long number) {
    return many * number / threads;
}

static inline uint32_t next_number(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* A number from 0 to 1. */
static inline double next_part(uint64_t *state) {
    return next_number(state) / 2147483648.0;
}

static inline void *allocated(size_t many, size_t bytes) {
    void *memory = calloc(many, bytes);
    if (memory == NULL) {
        exit(3);
    }
    return memory;
}

#endif
