// Relaxed atomics order nothing else, but a counter that stands for itself needs no order.
//
// NORACE
// EXPECT-STDOUT: total 20
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { ROUNDS = 10 };

atomic_int total;

static void *adder(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++)
        atomic_fetch_add_explicit(&total, 1, memory_order_relaxed); // NORACE: total
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, adder, NULL);
    pthread_create(&second, NULL, adder, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("total %d\n", atomic_load_explicit(&total, memory_order_relaxed));
    return 0;
}
