// C11 mutexes: plain, recursive, and timed, entered by lock, trylock and timedlock.
//
// NORACE
// EXPECT-STDOUT: totals 10 20 10
#include <stdio.h>
#include <threads.h>
#include <time.h>

enum { ROUNDS = 5 };

int plain_total, nested_total, timed_total;
mtx_t plain, nested, timed;

static void add_nested(void) {
    mtx_lock(&nested);
    nested_total++; // NORACE: nested_total
    mtx_unlock(&nested);
}

static int worker(void *arg) {
    (void)arg;
    struct timespec limit;
    timespec_get(&limit, TIME_UTC);
    limit.tv_sec += 3600;
    for (int i = 0; i < ROUNDS; i++) {
        while (mtx_trylock(&plain) != thrd_success)
            thrd_yield();
        plain_total++; // NORACE: plain_total
        mtx_unlock(&plain);
        mtx_lock(&nested);
        add_nested();
        nested_total++; // NORACE: nested_total
        mtx_unlock(&nested);
        if (mtx_timedlock(&timed, &limit) == thrd_success) {
            timed_total++; // NORACE: timed_total
            mtx_unlock(&timed);
        }
    }
    return 0;
}

int main(void) {
    mtx_init(&plain, mtx_plain);
    mtx_init(&nested, mtx_plain | mtx_recursive);
    mtx_init(&timed, mtx_timed);
    thrd_t first, second;
    thrd_create(&first, worker, NULL);
    thrd_create(&second, worker, NULL);
    thrd_join(first, NULL);
    thrd_join(second, NULL);
    printf("totals %d %d %d\n", plain_total, nested_total, timed_total);
    mtx_destroy(&plain);
    mtx_destroy(&nested);
    mtx_destroy(&timed);
    return 0;
}
