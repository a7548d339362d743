// From "maximal", figure 2, first case: the flag is read, but nothing depends on what it said.
//
// The trace of a run in which the reader sees y = 1 equals that of case 2; only the missing branch
// between the two reads tells them apart.
//
// Verdict: the reader goes on to x whatever y was, so it can read y = 0 and stand at x while main
// stands at its write: a race on x. y is atomic and never a race itself.
#include <pthread.h>
#include <stdatomic.h>

int x;
atomic_int y;
int seen_x, seen_y;

static void *reader(void *arg) {
    (void)arg;
    seen_y = atomic_load(&y); // NORACE: y
    seen_x = x; // RACE: x with line 25
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    x = 1; // RACE: x with line 18
    atomic_store(&y, 1); // NORACE: y
    pthread_join(thread, NULL);
    return 0;
}
