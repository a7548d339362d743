// pthread_once: whichever thread comes first builds the table, all others wait until it stands.
//
// NORACE
// EXPECT-STDOUT: built 1 sum 21
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3 };

int table;
int built;
int seen[THREADS];
pthread_once_t once = PTHREAD_ONCE_INIT;

static void build(void) {
    table = 7; // NORACE: table
    built++; // NORACE: built
}

static void *user(void *arg) {
    int *my_seen = arg;
    pthread_once(&once, build);
    *my_seen = table; // NORACE: table
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, user, &seen[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("built %d sum %d\n", built, seen[0] + seen[1] + seen[2]);
    return 0;
}
