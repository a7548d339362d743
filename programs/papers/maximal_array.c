// From "maximal", the array example of section 4: which element is written depends on shared data.
//
// In the run where main goes first both threads write a[0], without a common lock. Moving main's
// write next to the other one needs the thread's critical section before main's; but then x is
// already 1 and main writes a[1]. An address that depends on a read is a branch in disguise.
//
// Verdict: if main locks first, the thread's write to a[0] comes after main's unlock; if the thread
// locks first, main writes a[1]. The two never meet in one element. x is only used under the lock.
// NORACE
#include <pthread.h>

int a[2];
int x;
pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER;

static void *mover(void *arg) {
    (void)arg;
    pthread_mutex_lock(&l);
    x = 1; // NORACE: x
    pthread_mutex_unlock(&l);
    a[0] = 1; // NORACE: a
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, mover, NULL);
    pthread_mutex_lock(&l);
    a[x] = 2; // NORACE: a, x
    pthread_mutex_unlock(&l);
    pthread_join(thread, NULL);
    return 0;
}
