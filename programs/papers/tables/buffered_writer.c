// After "maximal", table 1, bufwriter: writers fill a buffer under its lock; whoever finds it full hands it to the flusher and begins another. The flusher
// writes it out without any lock: it is the flusher's by then. Most of what looks suspicious here is in order.
//
// Verdict: a buffer is filled under the lock, handed over under the lock and nobody else has it after that: the flusher's accesses to it never race. Two things do: main
// turns `verbose` on while the flusher looks at it, and main peeps at how much is in the buffer while a writer, under a lock that main does not take,
// puts something in or begins the next one.
//
// EXPECT-STDOUT: 24 written
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 4, WRITERS = 3 };

typedef struct Buffer {
    struct Buffer *next;
    int values[SIZE];
} Buffer;

Buffer *filling;
int filled;      // places of it
Buffer *waiting; // for the flusher
int writing = WRITERS;
int verbose;
int written, told;
int peeped;
int each;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t work = PTHREAD_COND_INITIALIZER;

static Buffer *new_buffer(void) {
    Buffer *buffer = calloc(1, sizeof *buffer);
    if (buffer == NULL)
        exit(1);
    return buffer;
}

static void *writer(void *arg) {
    (void)arg;
    for (int i = 0; i < each; i++) {
        pthread_mutex_lock(&lock);
        filling->values[filled] = 1; // NORACE: values
        filled++; // RACE: filled with line 86
        if (filled == SIZE) {
            filling->next = waiting;
            waiting = filling; // NORACE: waiting
            filling = new_buffer();
            filled = 0; // RACE: filled with line 86
            pthread_cond_signal(&work);
        }
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    writing--; // NORACE: writing
    pthread_cond_signal(&work);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *flusher(void *arg) {
    (void)arg;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (waiting == NULL && writing > 0)
            pthread_cond_wait(&work, &lock);
        Buffer *mine = waiting;
        waiting = mine == NULL ? NULL : mine->next; // NORACE: waiting
        pthread_mutex_unlock(&lock);
        if (mine == NULL)
            return NULL;
        for (int i = 0; i < SIZE; i++)
            written += mine->values[i]; // NORACE: written, values
        free(mine); // NORACE: values
        if (verbose) // RACE: verbose with line 87
            told++;
    }
}

int main(int argc, char **argv) {
    each = argc > 1 ? atoi(argv[1]) : 8;
    filling = new_buffer(); // NORACE: filling
    pthread_t writers[WRITERS], last;
    pthread_create(&last, NULL, flusher, NULL);
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&writers[i], NULL, writer, NULL);
    peeped = filled; // RACE: filled with line 43, filled with line 48
    verbose = 1; // RACE: verbose with line 74
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    pthread_join(last, NULL);
    for (int i = 0; i < filled; i++)
        written += filling->values[i]; // NORACE: written, values
    free(filling);
    printf("%d written\n", written);
    return 0;
}
