// Two owners of a block, and one of them looks at it once more after it has dropped its share. It usually drops
// first, and then the other one's drop, which frees the block, follows much later.
//
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct block {
    atomic_int owners;
    int value;
};

struct block *shared;
int seen;

static void drop(void) {
    if (atomic_fetch_sub(&shared->owners, 1) == 1)
        free(shared); // RACE: *shared with line 23
}

static void *owner(void *arg) {
    drop();
    seen = shared->value; // RACE: *shared with line 18
    return arg;
}

static void *nothing(void *arg) {
    return arg;
}

// Meanwhile the other thread usually gets through, but nothing makes it.
static void dawdle(void) {
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, nothing, NULL);
        pthread_join(thread, NULL);
    }
}

int main(void) {
    pthread_t thread;
    shared = calloc(1, sizeof *shared);
    atomic_init(&shared->owners, 2);
    pthread_create(&thread, NULL, owner, NULL);
    dawdle();
    drop();
    pthread_join(thread, NULL);
    return 0;
}
