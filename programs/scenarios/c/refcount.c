// Two owners of a block: whoever drops the last share frees it. No lock guards the block, the count orders
// the uses of all before the release by one.
//
// NORACE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct block {
    atomic_int owners;
    int values[2];
};

struct block *shared;

static void use_and_drop(int mine) {
    shared->values[mine]++; // NORACE: values
    if (atomic_fetch_sub(&shared->owners, 1) == 1)
        free(shared); // NORACE: shared
}

static void *owner(void *arg) {
    use_and_drop(1);
    return arg;
}

int main(void) {
    pthread_t thread;
    shared = calloc(1, sizeof *shared);
    atomic_init(&shared->owners, 2);
    pthread_create(&thread, NULL, owner, NULL);
    use_and_drop(0);
    pthread_join(thread, NULL);
    return 0;
}
