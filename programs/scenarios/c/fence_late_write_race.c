// Publication with fences, in the right order, but one more write to the published record comes behind the
// flag. The reader, which waits for nothing else, can be at the record at the same time; usually it is
// through by then.
//
// CFLAGS: -Wno-tsan
#include <pthread.h>
#include <stdatomic.h>

struct record {
    int value, stamp;
} record;
atomic_int ready, served;
int seen;

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

static void *reader(void *arg) {
    if (atomic_load_explicit(&ready, memory_order_relaxed)) {
        atomic_thread_fence(memory_order_acquire);
        seen = record.value; // NORACE: record
        seen += record.stamp; // RACE: record.stamp with line 46
        atomic_fetch_add(&served, 1);
    }
    return arg;
}

int main(void) {
    pthread_t thread;
    record.value = 1; // NORACE: record
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    pthread_create(&thread, NULL, reader, NULL);
    dawdle();
    atomic_fetch_add(&served, 1);
    record.stamp = 2; // RACE: record.stamp with line 32
    pthread_join(thread, NULL);
    return 0;
}
