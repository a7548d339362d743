// The countdown of atomic_acq_rel.c with relaxed order. Only the last worker adds up, so no
// interleaving brings the accesses together, but nothing makes the results visible to it.
#include <pthread.h>
#include <stdatomic.h>

enum { WORKERS = 3 };

int results[WORKERS];
int sum;
atomic_int left = WORKERS;

static void *worker(void *arg) {
    int *result = arg;
    *result = (int)(result - results) + 1; // RACE: results with line 17 (weak)
    if (atomic_fetch_sub_explicit(&left, 1, memory_order_relaxed) == 1)
        for (int i = 0; i < WORKERS; i++)
            sum += results[i]; // RACE: results with line 14 (weak)
    return NULL;
}

int main(void) {
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, worker, &results[i]);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
