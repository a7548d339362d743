// A value published through a flag that is stored with release and loaded with acquire.
//
// NORACE
// EXPECT-STDOUT: seen 42
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

int value;
int seen;
atomic_int ready;

static void *reader(void *arg) {
    (void)arg;
    while (!atomic_load_explicit(&ready, memory_order_acquire)) // NORACE: ready
        sched_yield();
    seen = value; // NORACE: value
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    value = 42; // NORACE: value
    atomic_store_explicit(&ready, 1, memory_order_release); // NORACE: ready
    pthread_join(thread, NULL);
    printf("seen %d\n", seen);
    return 0;
}
