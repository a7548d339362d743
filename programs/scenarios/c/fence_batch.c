// One fence for a batch: three values are written, then a release fence, then three relaxed flags, one for each
// reader's part. Each reader that sees its flag passes an acquire fence and reads its value. (Stock TSan
// does not know fences and reports races.)
//
// NORACE
// CFLAGS: -Wno-tsan
#include <pthread.h>
#include <stdatomic.h>

enum { READERS = 2 };
int values[READERS], seen[READERS];
atomic_int ready[READERS];

static void *reader(void *arg) {
    int mine = arg != NULL;
    if (atomic_load_explicit(&ready[mine], memory_order_relaxed)) {
        atomic_thread_fence(memory_order_acquire);
        seen[mine] = values[mine]; // NORACE: values
    }
    return NULL;
}

int main(void) {
    pthread_t threads[READERS];
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, reader, threads);
    for (int i = 0; i < READERS; i++)
        values[i] = i + 1; // NORACE: values
    atomic_thread_fence(memory_order_release);
    for (int i = 0; i < READERS; i++)
        atomic_store_explicit(&ready[i], 1, memory_order_relaxed);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
