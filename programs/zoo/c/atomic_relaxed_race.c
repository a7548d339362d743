// A value published through a relaxed flag. The flag keeps the two accesses apart in every
// interleaving, but relaxed accesses order nothing: compiler and processor may move the value's read
// or write across the flag, and the language calls it a race.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int value;
int seen;
atomic_int ready;

static void *reader(void *arg) {
    (void)arg;
    while (!atomic_load_explicit(&ready, memory_order_relaxed)) // NORACE: ready
        sched_yield();
    seen = value; // RACE: value with line 23 (weak)
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    value = 42; // RACE: value with line 16 (weak)
    atomic_store_explicit(&ready, 1, memory_order_relaxed); // NORACE: ready
    pthread_join(thread, NULL);
    return 0;
}
