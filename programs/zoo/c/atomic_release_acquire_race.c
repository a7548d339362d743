// Release and acquire in the right places, but the reader does not wait: it reads the value whatever
// the flag said.
#include <pthread.h>
#include <stdatomic.h>

int value;
int seen, seen_ready;
atomic_int ready;

static void *reader(void *arg) {
    (void)arg;
    seen_ready = atomic_load_explicit(&ready, memory_order_acquire); // NORACE: ready
    seen = value; // RACE: value with line 20
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    value = 42; // RACE: value with line 13
    atomic_store_explicit(&ready, 1, memory_order_release); // NORACE: ready
    pthread_join(thread, NULL);
    return 0;
}
