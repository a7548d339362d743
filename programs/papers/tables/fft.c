// After "interleave", table 2, fft: a transform of numbers modulo a prime. In each stage every thread has butterflies of its own; between stages
// all meet at a barrier.
//
// Verdict: a stage writes each number in one butterfly, of one thread, and reads it only there; the barrier stands between a stage and the next. Main prepares
// the numbers before the threads start and looks at them after they have ended.
//
// NORACE
// EXPECT-STDOUT: there and back
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 4096, THREADS = 2, PRIME = 12289, ROOT = 11 };

int size;
long numbers[MOST];
pthread_barrier_t stage;

typedef struct {
    int me;
    int is_back;
} Worker;

static long power(long base, long exponent) {
    long result = 1;
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2 == 1)
            result = result * base % PRIME;
        base = base * base % PRIME;
    }
    return result;
}

// The numbers at i and at i + half become sum and difference, one of them turned.
static void butterfly(int i, int half, long turn, int is_back) {
    long a = numbers[i], b = numbers[i + half]; // NORACE: numbers
    if (is_back) {
        b = b * turn % PRIME;
        numbers[i] = (a + b) % PRIME; // NORACE: numbers
        numbers[i + half] = (a - b + PRIME) % PRIME; // NORACE: numbers
    } else {
        numbers[i] = (a + b) % PRIME; // NORACE: numbers
        numbers[i + half] = (a - b + PRIME) * turn % PRIME; // NORACE: numbers
    }
}

static void *transform(void *arg) {
    Worker worker = *(Worker *)arg;
    for (int half = worker.is_back ? 1 : size / 2; half >= 1 && half < size; half = worker.is_back ? half * 2 : half / 2) {
        long step = power(ROOT, (PRIME - 1) / (2 * half));
        if (worker.is_back)
            step = power(step, PRIME - 2);
        for (int number = worker.me; number < size / 2; number += THREADS) {
            int in_group = number % half;
            butterfly(number / half * 2 * half + in_group, half, power(step, in_group), worker.is_back);
        }
        pthread_barrier_wait(&stage);
    }
    return NULL;
}

static void transform_all(int is_back) {
    pthread_t threads[THREADS];
    Worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (Worker){i, is_back};
        pthread_create(&threads[i], NULL, transform, &workers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
    size = argc > 1 ? atoi(argv[1]) : 8;
    if (size < 2 || size > MOST || (size & (size - 1)) != 0)
        return 2;
    for (int i = 0; i < size; i++)
        numbers[i] = i + 1;
    pthread_barrier_init(&stage, NULL, THREADS);
    transform_all(0);
    transform_all(1);
    int is_same = 1;
    for (int i = 0; i < size; i++)
        is_same &= numbers[i] == (i + 1L) * size % PRIME; // NORACE: numbers
    printf("%s\n", is_same ? "there and back" : "something else");
    return 0;
}
