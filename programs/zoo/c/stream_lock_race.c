// Two streams have two locks.
#include <pthread.h>
#include <stdio.h>

int count;

static void *worker(void *stream) {
    flockfile(stream);
    count++; // RACE: count with line 18
    funlockfile(stream);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, stderr);
    if (ftrylockfile(stdout) == 0) {
        count++; // RACE: count with line 9
        funlockfile(stdout);
    }
    pthread_join(thread, NULL);
    return 0;
}
