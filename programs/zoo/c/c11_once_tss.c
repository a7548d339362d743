// call_once builds a table for all threads; thread-specific storage counts per thread, and its
// destructor settles the count under a mutex.
//
// NORACE
// EXPECT-STDOUT: total 14
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>

int table;
int total;
mtx_t lock;
tss_t key;
once_flag once = ONCE_FLAG_INIT;

static void settle(void *value) {
    int *count = value;
    mtx_lock(&lock);
    total += *count; // NORACE: total
    mtx_unlock(&lock);
    free(count);
}

static void build(void) {
    table = 7; // NORACE: table
}

static int user(void *arg) {
    (void)arg;
    call_once(&once, build);
    int *count = malloc(sizeof *count);
    *count = table; // NORACE: table
    tss_set(key, count);
    return 0;
}

int main(void) {
    mtx_init(&lock, mtx_plain);
    tss_create(&key, settle);
    thrd_t first, second;
    thrd_create(&first, user, NULL);
    thrd_create(&second, user, NULL);
    thrd_join(first, NULL);
    thrd_join(second, NULL);
    printf("total %d\n", total); // NORACE: total
    tss_delete(key);
    return 0;
}
