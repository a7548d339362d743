// Shared memory that is reached through pointers: chains of assignments, pointers to pointers, structures that hold addresses.
#include <pthread.h>
#include <stdlib.h>

struct holder {
    int *where;
    struct holder *next;
};

int first, second, third;
int *through = &first;
struct holder holder = {&second, 0};
int **twice = &through;

static void store(int *p, int value) {
    *p = value;                     // RACE!
}

static void *worker(void *argument) {
    int *p = argument, *q = p, *r = q;
    *r = 1;                         // RACE!
    **twice = 2;                    // RACE!
    store(holder.where, 3);
    int here = 0, *own = &here;
    *own = 4;                       // NORACE
    return 0;
}

int main(void) {
    pthread_t thread;
    int *private = malloc(sizeof *private);
    *private = 1;                   // NORACE
    pthread_create(&thread, 0, worker, &third);
    *private += 1;                  // NORACE
    third = 5;                      // RACE!
    first = 6;                      // RACE!
    second = 7;                     // RACE!
    pthread_join(thread, 0);
    free(private);                  // NORACE
    return third;                   // NORACE
}
