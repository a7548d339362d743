// A ticket lock made of two atomic counters: draw a number, wait until it is served, serve the next.
//
// NORACE
// EXPECT-STDOUT: total 4
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

atomic_int next_ticket, now_serving;
int total;

static void *add_twice(void *arg) {
    for (int i = 0; i < 2; i++) {
        int mine = atomic_fetch_add(&next_ticket, 1);
        while (atomic_load(&now_serving) != mine)
            sched_yield();
        total++; // NORACE: total
        atomic_store(&now_serving, mine + 1);
    }
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, add_twice, NULL);
    add_twice(NULL);
    pthread_join(thread, NULL);
    printf("total %d\n", total);
    return 0;
}
