// The address of the loop counter goes to every thread: by the time a thread reads its number, the
// loop may have moved on.
#include <pthread.h>

enum { THREADS = 3 };

int numbers[THREADS];

static void *worker(void *arg) {
    int me = *(int *)arg; // RACE: i with line 19
    if (me < THREADS)
        __atomic_fetch_add(&numbers[me], 1, __ATOMIC_RELAXED);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int i;
    for (i = 0; i < THREADS; i++) // RACE: i with line 10
        pthread_create(&threads[i], NULL, worker, &i);
    for (int j = 0; j < THREADS; j++)
        pthread_join(threads[j], NULL);
    return 0;
}
