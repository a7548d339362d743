// From "maximal", figure 1: a race that causal orders miss because of a read that decides nothing.
//
// Main fills x and y inside one critical section; the checker reads y inside its own and x after it.
// In a run where main goes first, both sections touch y, so happens-before and causally-precedes
// order them and hide the pair on x. But no branch looks at the value of y before x is read.
//
// Verdict: the checker may pass its critical section first (it then reads y = 0) and stand at the
// read of x while main stands inside its section at the write: a race on x. Accesses to y share the
// lock; z is read after the join. Whether z is set in the end depends on the race.
#include <pthread.h>

int x, y, z;
int refused;
pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER;

static void *checker(void *arg) {
    (void)arg;
    pthread_mutex_lock(&l);
    int r1 = y; // NORACE: y
    pthread_mutex_unlock(&l);
    int r2 = x; // RACE: x with line 31
    if (r1 == r2)
        z = 1; // NORACE: z
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, checker, NULL);
    pthread_mutex_lock(&l);
    x = 1; // RACE: x with line 21
    y = 1; // NORACE: y
    pthread_mutex_unlock(&l);
    pthread_join(thread, NULL);
    int r3 = z; // NORACE: z
    if (r3 == 0)
        refused = 1;
    return 0;
}
