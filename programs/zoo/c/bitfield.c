// Two bit fields, one per thread, kept apart by a zero-width field: they are different memory
// locations.
//
// NORACE
// EXPECT-STDOUT: fields 5 6
#include <pthread.h>
#include <stdio.h>

struct flags {
    unsigned left : 4;
    unsigned : 0;
    unsigned right : 4;
};

struct flags flags;

static void *set_right(void *arg) {
    (void)arg;
    flags.right = 6; // NORACE: flags
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, set_right, NULL);
    flags.left = 5; // NORACE: flags
    pthread_join(thread, NULL);
    printf("fields %u %u\n", flags.left, flags.right);
    return 0;
}
