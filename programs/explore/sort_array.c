// After "prefix", table 1, SortArray: an array is sorted in parallel. Each thread fills its own piece, sorts it, says under a lock that
// it is done, and looks whether its piece and the next one happen to be in order already, so that merging can leave
// them alone. Pieces are merged when all threads have ended.
//
// The race that was added: a piece is said to be done when only one pass over it is left, for the author knew that
// this last pass rarely changes anything. What it does change, the thread of the piece before may be reading.
//
// Verdict: the first element of a piece is written in the last pass, and read by the thread of the piece before as soon as that sees `done`: a race. If the last pass is over by
// then, and its exchanges were counted under `lock`, the two are ordered, which is what happens in most runs. Elements are otherwise
// accessed by one thread only until all have ended; everything else is under `lock`.
//
// EXPECT-STDOUT: sorted
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    PIECE = 4,
    MOST_THREADS = 16,
    MOST = PIECE * MOST_THREADS,
};

int array[MOST];
int threads = 2;
int done[MOST_THREADS];
int in_order; // pairs of pieces that need no merging
int exchanges;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void fill(int piece) {
    for (int at = piece * PIECE; at < piece * PIECE + PIECE; at++)
        array[at] = (at + 3) * 29 % 64; // NORACE: array
}

static void exchange(int *left, int *right) {
    int kept = *left;
    *left = *right;
    *right = kept;
}

// One pass from the right: the smallest of what is left comes to its place.
static int pass(int from, int end) {
    int changes = 0;
    for (int at = end - 1; at > from; at--) {
        if (array[at - 1] > array[at]) {
            exchange(&array[at - 1], &array[at]);
            changes++;
        }
    }
    return changes;
}

// The last pass: the first element of the piece comes to its place among the others.
static int last_pass(int from, int end) {
    int first = array[from], at = from + 1;
    if (first <= array[at])
        return 0;
    array[from] = array[at]; // RACE: array with line 94
    for (; at + 1 < end && first > array[at + 1]; at++)
        array[at] = array[at + 1];
    array[at] = first;
    return at - from;
}

static void count(int changes) {
    pthread_mutex_lock(&lock);
    exchanges += changes; // NORACE: exchanges
    pthread_mutex_unlock(&lock);
}

// All of the piece but its first element, then the first.
static void sort(int piece) {
    int from = piece * PIECE, end = from + PIECE, changes = 0;
    for (int start = from + 1; start < end - 1; start++)
        changes += pass(start, end);
    pthread_mutex_lock(&lock);
    done[piece] = 1; // NORACE: done
    pthread_mutex_unlock(&lock);
    changes += last_pass(from, end);
    count(changes);
}

// Whether the next piece is known to begin where this one ends.
static void look_ahead(int piece) {
    if (piece + 1 == threads)
        return;
    pthread_mutex_lock(&lock);
    int is_done = done[piece + 1];
    pthread_mutex_unlock(&lock);
    if (!is_done)
        return;
    int last = array[piece * PIECE + PIECE - 1]; // NORACE: array
    int first = array[piece * PIECE + PIECE]; // RACE: array with line 59
    pthread_mutex_lock(&lock);
    in_order += last <= first;
    pthread_mutex_unlock(&lock);
}

static void *sorter(void *arg) {
    int piece = (int)(intptr_t)arg;
    fill(piece);
    sort(piece);
    look_ahead(piece);
    return NULL;
}

// Takes the smallest of all pieces' next elements, again and again. All threads have ended.
static void merge(int *sorted) {
    int taken[MOST_THREADS] = {0};
    for (int at = 0; at < threads * PIECE; at++) {
        int smallest = -1;
        for (int piece = 0; piece < threads; piece++) {
            if (taken[piece] == PIECE)
                continue;
            int element = array[piece * PIECE + taken[piece]]; // NORACE: array
            if (smallest < 0 || element < array[smallest * PIECE + taken[smallest]])
                smallest = piece;
        }
        sorted[at] = array[smallest * PIECE + taken[smallest]++];
    }
}

static int is_sorted(const int *sorted) {
    for (int at = 1; at < threads * PIECE; at++) {
        if (sorted[at - 1] > sorted[at])
            return 0;
    }
    return 1;
}

int main(int argc, char **argv) {
    if (argc > 1)
        threads = atoi(argv[1]);
    if (threads < 1 || threads > MOST_THREADS)
        return 2;
    pthread_t sorters[MOST_THREADS];
    for (int piece = 0; piece < threads; piece++)
        pthread_create(&sorters[piece], NULL, sorter, (void *)(intptr_t)piece);
    for (int piece = 0; piece < threads; piece++)
        pthread_join(sorters[piece], NULL);
    int sorted[MOST];
    merge(sorted);
    printf("%s\n", is_sorted(sorted) ? "sorted" : "not sorted");
    return 0;
}
