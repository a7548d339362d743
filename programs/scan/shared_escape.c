// Locals and heap blocks that a thread gets to know, and those that nobody else knows.
#include <pthread.h>
#include <stdlib.h>

struct job {
    int input;
    int output;
    int *extra;
};

struct job *published;

static void *worker(void *argument) {
    struct job *job = argument;
    job->output = job->input;       // RACE!
    *job->extra = 1;                // RACE!
    struct job *mine = malloc(sizeof *mine);
    mine->input = 2;                // NORACE
    mine->output = mine->input;     // NORACE
    free(mine);                     // NORACE
    return 0;
}

static void *reader(void *unused) {
    struct job *job = published;
    return (void *)(long)job->input; // RACE!
}

int main(void) {
    pthread_t a, b;
    int extra = 0, kept = 0;
    struct job job = {1, 0, &extra};
    struct job *shown = malloc(sizeof *shown);
    shown->input = 3;               // NORACE
    published = shown;
    pthread_create(&a, 0, worker, &job);
    pthread_create(&b, 0, reader, 0);
    kept++;                         // NORACE
    shown->input = 4;               // RACE!
    job.output++;                   // RACE!
    extra++;                        // RACE!
    pthread_join(a, 0);
    pthread_join(b, 0);
    return job.output + extra + kept; // NORACE
}
