// A 128-bit atomic: a pointer and a version published as one, and what the pointer leads to is ordered
// by the store and the load.
//
// NORACE
// CFLAGS: -Wno-atomic-alignment
// LDLIBS: -latomic
// EXPECT-STDOUT: version 1 length 5
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

struct text {
    int length;
};

struct edition {
    struct text *text;
    long version;
};

struct text text;
_Atomic struct edition current;
int seen_length;
long seen_version;

static void *reader(void *arg) {
    (void)arg;
    struct edition found;
    while ((found = atomic_load(&current)).text == NULL) // NORACE: current
        sched_yield();
    seen_version = found.version;
    seen_length = found.text->length; // NORACE: text.length
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    text.length = 5; // NORACE: text.length
    struct edition first = {&text, 1};
    atomic_store(&current, first); // NORACE: current
    pthread_join(thread, NULL);
    printf("version %ld length %d\n", seen_version, seen_length);
    return 0;
}
