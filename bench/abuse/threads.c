// Creates and joins threads: the first argument says how many, the second how many at a time.
//
// NORACE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void *work(void *number) {
    pthread_mutex_lock(&lock);
    total += (long)number;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv) {
    long threads = argc > 1 ? atol(argv[1]) : 1000;
    long at_once = argc > 2 ? atol(argv[2]) : 100;
    pthread_t *started = malloc(at_once * sizeof *started);
    for (long first = 0; first < threads; first += at_once) {
        long many = threads - first < at_once ? threads - first : at_once;
        for (long i = 0; i < many; i++)
            if (pthread_create(&started[i], NULL, work, (void *)(first + i)) != 0)
                return 1;
        for (long i = 0; i < many; i++)
            pthread_join(started[i], NULL);
    }
    free(started);
    printf("%ld\n", total);
    return 0;
}
