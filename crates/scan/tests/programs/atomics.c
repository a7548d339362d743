// Accesses that may happen together with others.
#include <stdatomic.h>

atomic_int count;
volatile int ready;
long value;
int *_Atomic head;

int loaded(void) { return atomic_load(&count); }

void stored(int n) { atomic_store_explicit(&count, n, memory_order_release); }

int added(void) { return atomic_fetch_add(&count, 2); }

int exchanged(int old, int new) { return atomic_compare_exchange_strong(&count, &old, new); }

long builtin(void) { return __sync_val_compare_and_swap(&value, 1, 2); }

void fenced(void) { atomic_thread_fence(memory_order_seq_cst); }

void waits(void)
{
    while (!ready)
        ;
    ready = 0;
}

void pushed(int *p) { atomic_exchange(&head, p); }
