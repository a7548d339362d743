// From "maximal", figure 2, second case: the reader waits until the flag says that x is ready.
//
// Same reads and writes as case 1 when the flag is seen at once, with a branch between the reads.
//
// Verdict: x is read only after the loop has seen y = 1, and y = 1 is stored after x is written. No
// interleaving brings the two accesses to x together, and the store and load of y order them.
// NORACE
// EXPECT-STDOUT: x 1
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

int x;
atomic_int y;
int seen_x;

static void *reader(void *arg) {
    (void)arg;
    while (atomic_load(&y) == 0) // NORACE: y
        ;
    seen_x = x; // NORACE: x
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    x = 1; // NORACE: x
    atomic_store(&y, 1); // NORACE: y
    pthread_join(thread, NULL);
    printf("x %d\n", seen_x);
    return 0;
}
