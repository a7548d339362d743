// A release sequence: a third thread's relaxed read-modify-write of the flag does not break the edge
// from the release store to the acquire load that sees its result.
//
// NORACE
// EXPECT-STDOUT: seen 42
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

int value;
int seen;
atomic_int stage;

static void *relay(void *arg) {
    (void)arg;
    int expected = 1;
    while (!atomic_compare_exchange_weak_explicit(&stage, &expected, 2, memory_order_relaxed,
                                                  memory_order_relaxed)) {
        expected = 1;
        sched_yield();
    }
    return NULL;
}

static void *reader(void *arg) {
    (void)arg;
    while (atomic_load_explicit(&stage, memory_order_acquire) != 2)
        sched_yield();
    seen = value; // NORACE: value
    return NULL;
}

int main(void) {
    pthread_t middle, last;
    pthread_create(&middle, NULL, relay, NULL);
    pthread_create(&last, NULL, reader, NULL);
    value = 42; // NORACE: value
    atomic_store_explicit(&stage, 1, memory_order_release);
    pthread_join(middle, NULL);
    pthread_join(last, NULL);
    printf("seen %d\n", seen);
    return 0;
}
