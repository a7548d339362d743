// From "interleave", listing 1: two threads update x under a mutex and y without one.
//
// When main's critical section runs first, its unlock and the task's lock put main's y++ before
// the task's y++, so a happens-before detector that watches this run stays silent. The opposite
// order of the two critical sections leaves both y++ free, and they collide.
//
// Verdict: the first y++ comes before the thread exists and both x++ hold m. Main's second y++ and
// the task's y++ share no lock, and the task can pass its critical section before main does: a race.
// EXPECT-STDOUT: x 2
#include <pthread.h>
#include <stdio.h>

int x, y;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *task(void *arg) {
    (void)arg;
    pthread_mutex_lock(&m);
    x++; // NORACE: x
    pthread_mutex_unlock(&m);
    y++; // RACE: y with line 29
    return NULL;
}

int main(void) {
    pthread_t thread;
    y++; // NORACE: y
    pthread_create(&thread, NULL, task, NULL);
    y++; // RACE: y with line 21
    pthread_mutex_lock(&m);
    x++; // NORACE: x
    pthread_mutex_unlock(&m);
    pthread_join(thread, NULL);
    printf("x %d\n", x);
    return 0;
}
