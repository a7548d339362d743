// After "interleave", table 2, ctrace: a library that writes what threads do into a ring of lines. Lines and names of threads are under its lock; whether anything
// is written, and how much, are settings that main changes as the threads run.
//
// Verdict: the settings are read by every thread without the lock and set by main: two races. Main also looks at how many lines
// there are while a thread adds one under the lock: a third. The ring, and the names of threads, are always under the lock.
//
// EXPECT-STDOUT: traced
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, RING = 8, LOUD = 2 };

typedef struct {
    int thread;
    int what;
} Line;

// The library.
Line ring[RING];
int line_count;
int known_threads;
int is_on = 1;
int level = LOUD;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int rounds;
int seen_lines;

static int enter_thread(void) {
    pthread_mutex_lock(&lock);
    int name = known_threads++; // NORACE: known_threads
    pthread_mutex_unlock(&lock);
    return name;
}

static void trace(int thread, int what, int loudness) {
    if (!is_on) // RACE: is_on with line 65
        return;
    if (loudness > level) // RACE: level with line 63
        return;
    pthread_mutex_lock(&lock);
    ring[line_count % RING] = (Line){thread, what}; // NORACE: ring
    line_count++; // RACE: line_count with line 64
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg) {
    (void)arg;
    int name = enter_thread();
    for (int i = 0; i < rounds; i++) {
        trace(name, i, 1);
        trace(name, -i, LOUD);
    }
    return NULL;
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atoi(argv[1]) : 3;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    level = 1; // RACE: level with line 40
    seen_lines = line_count; // RACE: line_count with line 44
    is_on = 0; // RACE: is_on with line 38
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%s\n", line_count <= 2 * THREADS * rounds ? "traced" : "too many lines"); // NORACE: line_count
    return 0;
}
