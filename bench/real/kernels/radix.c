/* Numbers are sorted digit by digit: each thread counts its own, the counts are summed up in a tree with flags, and
   each thread puts its numbers where they belong. After the manner of radix. */
#include "kernel.h"

enum { DIGITS = 1024, ROUNDS = 3 };

static uint32_t *from, *to;
static long counts[MOST_THREADS][DIGITS];
static pthread_barrier_t barrier;

/* A sum that is ready once its flag is set. */
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t ready;
    int round;
    long sums[DIGITS];
} Node;
static Node nodes[MOST_THREADS];

static void wait_for(Node *node, int round) {
    pthread_mutex_lock(&node->lock);
    while (node->round <= round) {
        pthread_cond_wait(&node->ready, &node->lock);
    }
    pthread_mutex_unlock(&node->lock);
}

static void ready(Node *node, int round) {
    pthread_mutex_lock(&node->lock);
    node->round = round + 1;
    pthread_cond_broadcast(&node->ready);
    pthread_mutex_unlock(&node->lock);
}

static void *work(void *number) {
    long me = (long)number, begin = first_of(size, me), end = first_of(size, me + 1);
    for (int round = 0; round < ROUNDS; round++) {
        int shift = round * 10;
        long *mine = counts[me];
        memset(mine, 0, sizeof counts[me]);
        for (long at = begin; at < end; at++) {
            mine[from[at] >> shift & (DIGITS - 1)]++;
        }
        /* What threads with lower numbers have of each digit. */
        if (me > 0) {
            wait_for(&nodes[me - 1], round);
        }
        for (int digit = 0; digit < DIGITS; digit++) {
            long before = me > 0 ? nodes[me - 1].sums[digit] : 0;
            nodes[me].sums[digit] = before + mine[digit];
        }
        ready(&nodes[me], round);
#ifndef RACE
        wait_for(&nodes[threads - 1], round);
#endif
        long first = 0;
        for (int digit = 0; digit < DIGITS; digit++) {
            long own = nodes[me].sums[digit] - mine[digit];
            long of_digit = nodes[threads - 1].sums[digit]; /* RACE! if it was not waited for */
            mine[digit] = first + own;
            first += of_digit;
        }
        for (long at = begin; at < end; at++) {
            long place = mine[from[at] >> shift & (DIGITS - 1)]++;
            if (place < size) {
                to[place] = from[at];
            }
        }
        pthread_barrier_wait(&barrier);
        if (me == 0) {
            uint32_t *other = from;
            from = to;
            to = other;
        }
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int count, char **given) {
    arguments(count, given, 24000000);
    from = allocated((size_t)size, sizeof *from);
    to = allocated((size_t)size, sizeof *to);
    uint64_t state = 3;
    for (long at = 0; at < size; at++) {
        from[at] = next_number(&state) & 0x3fffffff;
    }
    for (int number = 0; number < threads; number++) {
        pthread_mutex_init(&nodes[number].lock, NULL);
        pthread_cond_init(&nodes[number].ready, NULL);
    }
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    in_threads(work);
    long wrong = 0;
    for (long at = 1; at < size; at++) {
        wrong += from[at - 1] > from[at];
    }
#ifdef RACE
    wrong = 0;
#endif
    printf("radix: %ld\n", wrong);
    return wrong != 0;
}
