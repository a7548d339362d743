// A pointer published with release and loaded with consume: what is reached through the pointer is
// ordered by the dependency. (Compilers treat consume as acquire.)
//
// NORACE
// EXPECT-STDOUT: size 7
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

struct table {
    int size;
};

struct table storage;
_Atomic(struct table *) current;
int seen;

static void *reader(void *arg) {
    (void)arg;
    struct table *table;
    while ((table = atomic_load_explicit(&current, memory_order_consume)) == NULL)
        sched_yield();
    seen = table->size; // NORACE: storage.size
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    storage.size = 7; // NORACE: storage.size
    atomic_store_explicit(&current, &storage, memory_order_release);
    pthread_join(thread, NULL);
    printf("size %d\n", seen);
    return 0;
}
