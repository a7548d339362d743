// Publication with stand-alone fences: a release fence before the relaxed store of the flag, an
// acquire fence after the relaxed load that saw it. This is correct. (Stock TSan does not understand
// fences and reports `value`.)
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
    while (!atomic_load_explicit(&ready, memory_order_relaxed))
        sched_yield();
    atomic_thread_fence(memory_order_acquire);
    seen = value; // NORACE: value
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    value = 42; // NORACE: value
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    pthread_join(thread, NULL);
    printf("seen %d\n", seen);
    return 0;
}
