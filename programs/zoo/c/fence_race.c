// Publication with fences, but the writer's fence stands after the store that it should precede: the
// value is not released with the flag. Only the memory model sees this, no interleaving does.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int value;
int seen;
atomic_int ready;

static void *reader(void *arg) {
    (void)arg;
    while (!atomic_load_explicit(&ready, memory_order_relaxed))
        sched_yield();
    atomic_thread_fence(memory_order_acquire);
    seen = value; // RACE: value with line 23 (weak)
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    value = 42; // RACE: value with line 16 (weak)
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    pthread_join(thread, NULL);
    return 0;
}
