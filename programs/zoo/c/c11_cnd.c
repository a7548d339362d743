// C11 condition variables: one value handed over with a signal and a timed wait, then a broadcast to
// two waiting threads.
//
// NORACE
// EXPECT-STDOUT: sum 84
#include <stdbool.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

int value;
int doubled;
bool filled, finished;
mtx_t lock;
cnd_t was_filled, was_finished;

static int doubler(void *arg) {
    (void)arg;
    struct timespec limit;
    timespec_get(&limit, TIME_UTC);
    limit.tv_sec += 3600;
    mtx_lock(&lock);
    while (!filled && cnd_timedwait(&was_filled, &lock, &limit) == thrd_success)
        ;
    doubled = value * 2; // NORACE: value, doubled
    finished = true;
    cnd_broadcast(&was_finished);
    mtx_unlock(&lock);
    return 0;
}

static int watcher(void *arg) {
    int *result = arg;
    mtx_lock(&lock);
    while (!finished)
        cnd_wait(&was_finished, &lock);
    mtx_unlock(&lock);
    *result = doubled; // NORACE: doubled
    return 0;
}

int main(void) {
    thrd_t threads[3];
    int results[2];
    mtx_init(&lock, mtx_timed);
    cnd_init(&was_filled);
    cnd_init(&was_finished);
    thrd_create(&threads[0], doubler, NULL);
    thrd_create(&threads[1], watcher, &results[0]);
    thrd_create(&threads[2], watcher, &results[1]);
    mtx_lock(&lock);
    value = 21; // NORACE: value
    filled = true;
    cnd_signal(&was_filled);
    mtx_unlock(&lock);
    for (int i = 0; i < 3; i++)
        thrd_join(threads[i], NULL);
    printf("sum %d\n", results[0] + results[1]);
    cnd_destroy(&was_filled);
    cnd_destroy(&was_finished);
    return 0;
}
