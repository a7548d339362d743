// One thread keeps a stream's lock and wants the mutex, the other has the mutex and prints to the stream.
//
// NORACE
#include <pthread.h>
#include <stdio.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *keeper(void *arg) {
    flockfile(stderr);
    pthread_mutex_lock(&m); // DEADLOCK: waits for m holding _IO_2_1_stderr_, with line 24
    pthread_mutex_unlock(&m);
    funlockfile(stderr);
    return arg;
}

int main(void) {
    pthread_t thread;
    flockfile(stderr);
    fputs("first\n", stderr);
    funlockfile(stderr);
    pthread_create(&thread, NULL, keeper, NULL);
    pthread_mutex_lock(&m);
    fputs("main\n", stderr); // DEADLOCK: waits for _IO_2_1_stderr_ holding m, with line 11
    pthread_mutex_unlock(&m);
    pthread_join(thread, NULL);
    return 0;
}
