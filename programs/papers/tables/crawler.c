// After "hybrid", tables 1 and 3, hedc: the kernel of a crawler. Tasks wait in a pool, workers take them, read a page and follow its links; whoever asked waits for some of
// the pages, then loses patience, interrupts who is still reading and takes the answers that are there.
//
// Verdict: the pool is under its lock. What goes on between whoever asked and the workers is not: who reads a page is written by a worker, before and after, and looked at by main, who
// then interrupts that worker, which looks whether it was; an answer is written by a worker and read by main; two workers count an answer side by side, and
// main looks at the count. A page is taken by one worker only, so that its reader and its answer are never written by two. A worker is interrupted by main alone.
//
// EXPECT-STDOUT: the search is over
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1024, WORKERS = 3, LINKS = 2, ROOTS = 3, NOBODY = 0 };

// The pool.
int pool[MOST];
int taken, submitted;
int unfinished, finished;
int is_known[MOST];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t change = PTHREAD_COND_INITIALIZER;
pthread_cond_t progress = PTHREAD_COND_INITIALIZER;

int pages;
int reader[MOST]; // who reads a page, counted from 1
int answer[MOST];
int is_interrupted[WORKERS + 1];
int answers;
int seen_answers, best;

// Adds a page to the pool, unless it was there. With the lock held.
static void submit(int page) {
    if (is_known[page])
        return;
    is_known[page] = 1;
    pool[submitted++] = page; // NORACE: pool
    unfinished++;
    pthread_cond_signal(&change);
}

// A page to read; -1 when there will be none.
static int take(void) {
    pthread_mutex_lock(&lock);
    while (taken == submitted && unfinished > 0)
        pthread_cond_wait(&change, &lock);
    int page = taken < submitted ? pool[taken++] : -1; // NORACE: pool
    pthread_mutex_unlock(&lock);
    return page;
}

static void finish(int page) {
    pthread_mutex_lock(&lock);
    for (int i = 1; i <= LINKS; i++)
        submit((page * LINKS + i) % pages);
    finished++; // NORACE: finished
    pthread_cond_signal(&progress);
    if (--unfinished == 0) // NORACE: unfinished
        pthread_cond_broadcast(&change);
    pthread_mutex_unlock(&lock);
}

// Not inlined, so that each access keeps its line.
__attribute__((noinline)) static void read_page(int me, int page) {
    reader[page] = me; // RACE: reader with line 91
    if (!is_interrupted[me]) { // RACE: is_interrupted with line 93
        answer[page] = 1 + page * 7 % 10; // RACE: answer with line 96
        answers++; // RACE: answers with line 67, answers with line 99
    }
    reader[page] = NOBODY; // RACE: reader with line 91
}

static void *worker(void *arg) {
    int me = *(int *)arg;
    for (int page = take(); page >= 0; page = take()) {
        read_page(me, page);
        finish(page);
    }
    return NULL;
}

static void wait_for_some(void) {
    pthread_mutex_lock(&lock);
    while (finished < pages / 3)
        pthread_cond_wait(&progress, &lock);
    pthread_mutex_unlock(&lock);
}

// Interrupts who is still reading, and takes what is there.
static void lose_patience(void) {
    for (int page = 0; page < pages; page++) {
        int who = reader[page]; // RACE: reader with line 64, reader with line 69
        if (who != NOBODY)
            is_interrupted[who] = 1; // RACE: is_interrupted with line 65
    }
    for (int page = 0; page < pages; page++) {
        int found = answer[page]; // RACE: answer with line 66
        best = found > best ? found : best;
    }
    seen_answers = answers; // RACE: answers with line 67
}

int main(int argc, char **argv) {
    pages = argc > 1 ? atoi(argv[1]) : 8;
    if (pages < ROOTS || pages > MOST)
        return 2;
    for (int page = 0; page < ROOTS; page++)
        submit(page);
    pthread_t threads[WORKERS];
    int names[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        names[i] = i + 1;
        pthread_create(&threads[i], NULL, worker, &names[i]);
    }
    wait_for_some();
    lose_patience();
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    printf("%s\n", taken == submitted ? "the search is over" : "pages are left"); // NORACE: taken
    return 0;
}
