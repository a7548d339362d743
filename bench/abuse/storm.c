// Threads that start threads, which nobody joins: a tree of them, as deep as the argument says.
//
// NORACE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHILDREN = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static pthread_attr_t detached;
static long running, seen;

static void *grow(void *depth);

static void start(long depth) {
    pthread_t thread;
    pthread_mutex_lock(&lock);
    running++;
    pthread_mutex_unlock(&lock);
    if (pthread_create(&thread, &detached, grow, (void *)depth) != 0)
        abort();
}

static void *grow(void *depth) {
    if ((long)depth > 1)
        for (int i = 0; i < CHILDREN; i++)
            start((long)depth - 1);
    pthread_mutex_lock(&lock);
    seen++;
    if (--running == 0)
        pthread_cond_signal(&ended);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&detached, 128 * 1024);
    start(argc > 1 ? atol(argv[1]) : 6);
    pthread_mutex_lock(&lock);
    while (running > 0)
        pthread_cond_wait(&ended, &lock);
    printf("%ld\n", seen);
    pthread_mutex_unlock(&lock);
    return 0;
}
