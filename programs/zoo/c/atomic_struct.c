// An atomic structure too large for any instruction: libatomic copies it under a lock of its own. The
// three parts always belong together, and the load that sees them also sees what was written before.
// (Here it is the library's mutex that carries the order.)
//
// NORACE
// CFLAGS: -Wno-atomic-alignment
// LDLIBS: -latomic
// EXPECT-STDOUT: sum 6 note 42
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

struct parts {
    long first, second, third;
};

_Atomic struct parts shared;
int note;
int seen_note;
long sum;

static void *reader(void *arg) {
    (void)arg;
    struct parts found;
    while ((found = atomic_load(&shared)).third == 0) // NORACE: shared
        sched_yield();
    sum = found.first + found.second + found.third;
    seen_note = note; // NORACE: note
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    note = 42; // NORACE: note
    struct parts complete = {1, 2, 3};
    atomic_store(&shared, complete); // NORACE: shared
    pthread_join(thread, NULL);
    printf("sum %ld note %d\n", sum, seen_note);
    return 0;
}
