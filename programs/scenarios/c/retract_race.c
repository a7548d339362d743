// A value is published through an atomic flag, and taken back: flag down, value wiped. A reader that saw the
// flag in time still reads. It usually has by then; its second look at the flag comes after the
// value and orders nothing.
//
#include <pthread.h>
#include <stdatomic.h>

atomic_int published, reads;
int value, seen;

static void *reader(void *arg) {
    if (atomic_load(&published)) {
        seen = value; // RACE: value with line 40
        atomic_fetch_add(&reads, 1);
    }
    return arg;
}

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

int main(void) {
    pthread_t thread;
    value = 1; // NORACE: value
    atomic_store(&published, 1);
    pthread_create(&thread, NULL, reader, NULL);
    dawdle();
    atomic_store(&published, 0);
    atomic_fetch_add(&reads, 1);
    value = 0; // RACE: value with line 13
    pthread_join(thread, NULL);
    return 0;
}
