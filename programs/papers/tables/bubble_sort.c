// After "maximal", table 1, bubblesort: many threads, each of which bubbles once through one array. A step is under the array's lock; how
// many have been through, and how much the busiest of them swapped, is not.
//
// Verdict: the array is only touched under the lock, and by main before and after. Threads run side by side from the beginning: two that count themselves meet,
// and so do a count and main's look. Two that have swapped something can both find that nobody has swapped as much: they meet when they say so, and when one says so
// while the other looks.
//
// EXPECT-STDOUT: sorted
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 8, MOST_THREADS = 64 };

int numbers[LENGTH];
int passes;
int seen_passes;
int most_swaps; // of one thread
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Puts two neighbours in order; whether they were not.
static int step(int at) {
    pthread_mutex_lock(&lock);
    int left = numbers[at], right = numbers[at + 1]; // NORACE: numbers
    if (left > right) {
        numbers[at] = right; // NORACE: numbers
        numbers[at + 1] = left; // NORACE: numbers
    }
    pthread_mutex_unlock(&lock);
    return left > right;
}

static int bubble(void) {
    int swapped = 0;
    for (int at = 0; at + 1 < LENGTH; at++)
        swapped += step(at);
    return swapped;
}

static void *sorter(void *arg) {
    (void)arg;
    int swapped = bubble();
    passes++; // RACE: passes with line 43, passes with line 58
    if (swapped > most_swaps) // RACE: most_swaps with line 45
        most_swaps = swapped; // RACE: most_swaps with line 44, most_swaps with line 45
    return NULL;
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 25;
    if (count < 2 || count > MOST_THREADS)
        return 2;
    for (int i = 0; i < LENGTH; i++)
        numbers[i] = (i * 5 + 3) % LENGTH; // NORACE: numbers
    pthread_t threads[MOST_THREADS];
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, sorter, NULL);
    seen_passes = passes; // RACE: passes with line 43
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    while (bubble() > 0) {
    }
    int is_sorted = 1;
    for (int i = 0; i < LENGTH; i++)
        is_sorted &= numbers[i] == i; // NORACE: numbers
    printf("%s\n", is_sorted ? "sorted" : "not sorted");
    return 0;
}
