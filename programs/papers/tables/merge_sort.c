// After "maximal", table 1, mergesort: halves are sorted by threads of their own while some are left; who starts a thread joins it before it merges. How many threads are left
// is looked at without the lock under which it changes.
//
// Verdict: the array needs no lock: a thread has its half from its start to its end. The look at how many threads are left meets both changes of it, in another thread. Two
// that merge at the same time count it at the same time, and both can find themselves deeper than anybody before: they meet when they say so, and when one
// says so while the other looks.
//
// EXPECT-STDOUT: sorted
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 16 };

typedef struct {
    int from, to, depth;
} Part;

int numbers[MOST], merged[MOST];
int threads_left = 3;
int merges;
int deepest;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *sort(void *arg);

static int may_start_thread(void) {
    if (threads_left == 0) // RACE: threads_left with line 33, threads_left with line 40
        return 0;
    pthread_mutex_lock(&lock);
    int is_one_left = threads_left > 0;
    if (is_one_left)
        threads_left--; // RACE: threads_left with line 28
    pthread_mutex_unlock(&lock);
    return is_one_left;
}

static void give_thread_back(void) {
    pthread_mutex_lock(&lock);
    threads_left++; // RACE: threads_left with line 28
    pthread_mutex_unlock(&lock);
}

static void merge(int from, int middle, int to) {
    int left = from, right = middle;
    for (int i = from; i < to; i++) {
        int is_left = right == to || (left < middle && numbers[left] <= numbers[right]); // NORACE: numbers
        merged[i] = is_left ? numbers[left++] : numbers[right++];
    }
    for (int i = from; i < to; i++)
        numbers[i] = merged[i]; // NORACE: numbers, merged
    merges++; // RACE: merges with line 52
}

static void note_depth(int depth) {
    if (depth > deepest) // RACE: deepest with line 57
        deepest = depth; // RACE: deepest with line 56, deepest with line 57
}

static void *sort(void *arg) {
    Part part = *(Part *)arg;
    note_depth(part.depth);
    if (part.to - part.from < 2)
        return NULL;
    int middle = (part.from + part.to) / 2;
    Part left = {part.from, middle, part.depth + 1};
    Part right = {middle, part.to, part.depth + 1};
    if (may_start_thread()) {
        pthread_t thread;
        pthread_create(&thread, NULL, sort, &left);
        sort(&right);
        pthread_join(thread, NULL);
        give_thread_back();
    } else {
        sort(&left);
        sort(&right);
    }
    merge(part.from, middle, part.to);
    return NULL;
}

int main(int argc, char **argv) {
    int length = argc > 1 ? atoi(argv[1]) : 12;
    if (length < 4 || length > MOST)
        return 2;
    for (int i = 0; i < length; i++)
        numbers[i] = (i * 7 + 5) % length;
    Part all = {0, length, 1};
    sort(&all);
    int is_sorted = 1;
    for (int i = 0; i + 1 < length; i++)
        is_sorted &= numbers[i] <= numbers[i + 1]; // NORACE: numbers
    printf("%s\n", is_sorted ? "sorted" : "not sorted");
    return 0;
}
