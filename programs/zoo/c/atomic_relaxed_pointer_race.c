// A table's entry is published by its address and has a flag that says when it is filled. The reader loads the
// address relaxed. A flag that is set orders what was done before, its own preparation too; one that
// is not set yet orders nothing. So the race shows only if the reader comes in between, as it does here.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct entry {
    atomic_int filled;
    int value;
};

_Atomic(struct entry *) published;
int looked[2];
int seen;

static void *adder(void *arg) {
    struct entry *entry = malloc(sizeof *entry);
    char token;
    *entry = (struct entry){.value = 0}; // RACE: entry->filled with line 37 (weak)
    atomic_store_explicit(&published, entry, memory_order_release);
    if (read(looked[0], &token, 1) == 1)
        entry->value = 42; // NORACE: entry->value
    atomic_store_explicit(&entry->filled, 1, memory_order_release); // NORACE: entry->filled
    return arg;
}

int main(void) {
    pthread_t thread;
    struct entry *entry;
    if (pipe(looked) != 0 || pthread_create(&thread, NULL, adder, NULL) != 0)
        return 1;
    while ((entry = atomic_load_explicit(&published, memory_order_relaxed)) == NULL)
        sched_yield();
    if (atomic_load_explicit(&entry->filled, memory_order_acquire)) // RACE: entry->filled with line 22 (weak)
        seen = entry->value; // NORACE: entry->value
    int told = write(looked[1], "x", 1) == 1;
    pthread_join(thread, NULL);
    free(entry);
    return !told;
}
