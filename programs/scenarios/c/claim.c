// Workers claim cells of an array by adding to an atomic index: every cell has one owner, without any lock.
//
// NORACE
// EXPECT-STDOUT: 1 1 1 1
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { CELLS = 4 };
atomic_int next;
int cells[CELLS];

static void *work(void *arg) {
    int mine;
    while ((mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed)) < CELLS)
        cells[mine]++; // NORACE: cells
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    pthread_join(thread, NULL);
    printf("%d %d %d %d\n", cells[0], cells[1], cells[2], cells[3]);
    return 0;
}
