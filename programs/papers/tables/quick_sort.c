// After "interleave", table 2, qsort: threads take ranges of one array from a pool, divide them, and put the larger part back. The pool is under a lock with
// a condition; what is known about the work is not.
//
// Verdict: a range belongs to one thread from when it is taken to when its parts are put back, under the lock both times: the array never races. A thread that has
// divided a range looks at the pool's size without the lock, which meets another's putting and taking. Two that count a division
// meet, and main's look at the count; the longest range that was put back is looked at, and changed, side by side.
//
// EXPECT-STDOUT: sorted
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 16, THREADS = 2 };

typedef struct {
    int from, to;
} Range;

int numbers[MOST];
Range pool[MOST];
int pool_size;
int unsorted; // numbers that are not in their place yet
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t change = PTHREAD_COND_INITIALIZER;

int divisions;
int seen_divisions;
int longest;
int was_hungry[THREADS];

static void put(Range range) {
    if (range.from >= range.to)
        return;
    pthread_mutex_lock(&lock);
    pool[pool_size] = range; // NORACE: pool
    pool_size++; // RACE: pool_size with line 80
    pthread_cond_signal(&change);
    pthread_mutex_unlock(&lock);
}

// A range to sort; 0 when all numbers are in their places.
static int take(Range *range) {
    pthread_mutex_lock(&lock);
    while (pool_size == 0 && unsorted > 0)
        pthread_cond_wait(&change, &lock);
    int is_one = pool_size > 0;
    if (is_one)
        *range = pool[--pool_size]; // RACE: pool_size with line 80
    pthread_mutex_unlock(&lock);
    return is_one;
}

static void settle(int count) {
    pthread_mutex_lock(&lock);
    unsorted -= count; // NORACE: unsorted
    if (unsorted == 0)
        pthread_cond_broadcast(&change);
    pthread_mutex_unlock(&lock);
}

// Puts one number in its place, with smaller ones before it: where that is.
static int divide(Range range) {
    int pivot = numbers[range.to - 1], place = range.from; // NORACE: numbers
    for (int i = range.from; i + 1 < range.to; i++) {
        if (numbers[i] < pivot) {
            int smaller = numbers[i];
            numbers[i] = numbers[place]; // NORACE: numbers
            numbers[place++] = smaller; // NORACE: numbers
        }
    }
    numbers[range.to - 1] = numbers[place];
    numbers[place] = pivot; // NORACE: numbers
    return place;
}

static void note(int me, int length) {
    divisions++; // RACE: divisions with line 77, divisions with line 110
    if (length > longest) // RACE: longest with line 79
        longest = length; // RACE: longest with line 78, longest with line 79
    was_hungry[me] = pool_size == 0; // RACE: pool_size with line 36, pool_size with line 48
}

static void *sorter(void *arg) {
    int me = *(int *)arg;
    Range range;
    while (take(&range)) {
        int place = divide(range);
        put((Range){range.from, place});
        put((Range){place + 1, range.to});
        settle(1);
        note(me, range.to - range.from);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int length = argc > 1 ? atoi(argv[1]) : 10;
    if (length < 2 || length > MOST)
        return 2;
    for (int i = 0; i < length; i++)
        numbers[i] = (i * 7 + 3) % length;
    unsorted = length;
    put((Range){0, length});
    pthread_t threads[THREADS];
    int names[THREADS];
    for (int i = 0; i < THREADS; i++) {
        names[i] = i;
        pthread_create(&threads[i], NULL, sorter, &names[i]);
    }
    seen_divisions = divisions; // RACE: divisions with line 77
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    int is_sorted = 1;
    for (int i = 0; i + 1 < length; i++)
        is_sorted &= numbers[i] <= numbers[i + 1]; // NORACE: numbers
    printf("%s\n", is_sorted ? "sorted" : "not sorted");
    return 0;
}
