// The last of three workers to finish adds up the results: the acq_rel countdown makes every worker's
// result visible to whoever brings it to zero.
//
// NORACE
// EXPECT-STDOUT: sum 6
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { WORKERS = 3 };

int results[WORKERS];
int sum;
atomic_int left = WORKERS;

static void *worker(void *arg) {
    int *result = arg;
    *result = (int)(result - results) + 1; // NORACE: results
    if (atomic_fetch_sub_explicit(&left, 1, memory_order_acq_rel) == 1)
        for (int i = 0; i < WORKERS; i++)
            sum += results[i]; // NORACE: results, sum
    return NULL;
}

int main(void) {
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, worker, &results[i]);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    printf("sum %d\n", sum);
    return 0;
}
