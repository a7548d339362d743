// From "hybrid", figure 4: a counter under a lock hides a race from happens-before detectors.
//
// In most runs one thread's update of the clock follows the other's, and the lock that protects the
// clock then seems to order the accesses to `shared` as well. Nothing about the clock is meant to
// protect it.
//
// Verdict: the reader may pass its critical section first and read `shared` while the writer stands
// at its write: a race. The clock is always updated under the lock.
// EXPECT-STDOUT: clock 2
#include <pthread.h>
#include <stdio.h>

int shared;
int clock_ticks;
int seen;
pthread_mutex_t clock_lock = PTHREAD_MUTEX_INITIALIZER;

static void tick(void) {
    pthread_mutex_lock(&clock_lock);
    clock_ticks++; // NORACE: clock_ticks
    pthread_mutex_unlock(&clock_lock);
}

static void *reader(void *arg) {
    (void)arg;
    tick();
    seen = shared; // RACE: shared with line 34
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    shared = 7; // RACE: shared with line 27
    tick();
    pthread_join(thread, NULL);
    printf("clock %d\n", clock_ticks);
    return 0;
}
