// What is registered with `at_quick_exit` runs after it was registered, in whichever thread, and is seen.
//
// NORACE
// EXPECT-STDOUT: value 42
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int value;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void tell(void) {
    pthread_mutex_lock(&lock);
    printf("value %d\n", value); // NORACE: value
    pthread_mutex_unlock(&lock);
    fflush(stdout);
}

static void *worker(void *arg) {
    pthread_mutex_lock(&lock);
    value = 42; // NORACE: value
    pthread_mutex_unlock(&lock);
    at_quick_exit(tell);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    quick_exit(0);
}
