// The entry protocol of atomic_seq_cst.c with relaxed flags and a full fence between raising the own
// flag and looking at the other's. The fences alone make sure that at most one thread enters.
//
// NORACE
#include <pthread.h>
#include <stdatomic.h>

int entries;
atomic_int first_flag, second_flag;

static void *second(void *arg) {
    (void)arg;
    atomic_store_explicit(&second_flag, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&first_flag, memory_order_relaxed))
        entries++; // NORACE: entries
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, second, NULL);
    atomic_store_explicit(&first_flag, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&second_flag, memory_order_relaxed))
        entries++; // NORACE: entries
    pthread_join(thread, NULL);
    return 0;
}
