// A relaxed store ends a release sequence, that of its own thread too: who acquires what it stored
// learns nothing. Only the memory model sees the race.
//
// EXPECT-STDOUT: seen 42
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

int value;
atomic_int stage;

static void *writer(void *arg) {
    value = 42; // RACE: value with line 25 (weak)
    atomic_store_explicit(&stage, 1, memory_order_release);
    atomic_store_explicit(&stage, 2, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, writer, NULL);
    while (atomic_load_explicit(&stage, memory_order_acquire) != 2)
        sched_yield();
    int seen = value; // RACE: value with line 14 (weak)
    pthread_join(thread, NULL);
    printf("seen %d\n", seen);
    return 0;
}
