// A thread registers what is done at the end: it comes after what the thread did before.
//
// NORACE
#include <pthread.h>
#include <stdlib.h>

int value, other;

static void at_end(void) {
    value++; // NORACE: value
}

static void on_end(int status, void *arg) {
    (void)status;
    ++*(int *)arg; // NORACE: other
}

static void *worker(void *arg) {
    value++; // NORACE: value
    other++; // NORACE: other
    atexit(at_end);
    on_exit(on_end, &other);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_create(&thread, &detached, worker, NULL);
    return 0;
}
