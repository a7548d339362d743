// Takes and releases locks: the first argument says how often, in all.
//
// NORACE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, LOCKS = 16 };

static pthread_mutex_t locks[LOCKS];
static long counts[LOCKS];
static long each;

static void *work(void *seed) {
    unsigned long state = (unsigned long)seed;
    for (long i = 0; i < each; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        int which = state >> 60;
        pthread_mutex_lock(&locks[which]);
        counts[which]++;
        pthread_mutex_unlock(&locks[which]);
    }
    return NULL;
}

int main(int argc, char **argv) {
    each = (argc > 1 ? atol(argv[1]) : 10000000) / THREADS;
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&locks[i], NULL);
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    long total = 0;
    for (int i = 0; i < LOCKS; i++)
        total += counts[i];
    printf("%ld\n", total);
    return 0;
}
