// A compare-exchange that fails is a load with its failure order: here that is relaxed, though the
// success order would acquire. Only the memory model sees the race.
//
// EXPECT-STDOUT: seen 42
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

int value;
atomic_int stage;

static void *writer(void *arg) {
    value = 42; // RACE: value with line 27 (weak)
    atomic_store_explicit(&stage, 1, memory_order_release);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, writer, NULL);
    int expected = 0;
    while (atomic_compare_exchange_weak_explicit(&stage, &expected, 0, memory_order_acq_rel,
                                                 memory_order_relaxed) ||
           expected == 0)
        sched_yield();
    int seen = value; // RACE: value with line 14 (weak)
    pthread_join(thread, NULL);
    printf("seen %d\n", seen);
    return 0;
}
