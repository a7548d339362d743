// A compare-exchange that fails is a load with its failure order: here that acquires, though the
// success order does not.
//
// NORACE
// EXPECT-STDOUT: seen 42
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

int value;
atomic_int stage;

static void *writer(void *arg) {
    value = 42; // NORACE: value
    atomic_store_explicit(&stage, 1, memory_order_release);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, writer, NULL);
    int expected = 0;
    while (atomic_compare_exchange_strong_explicit(&stage, &expected, 0, memory_order_release,
                                                   memory_order_acquire))
        sched_yield();
    int seen = value; // NORACE: value
    pthread_join(thread, NULL);
    printf("seen %d\n", seen);
    return 0;
}
