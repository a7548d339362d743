// From "prefix", figure 6: the locking discipline is broken, yet nothing can race.
//
// X is written under both locks, written under lock_x alone and read under lock_y alone. No single
// lock covers all three, so a lockset detector warns.
//
// Verdict: the other thread's two accesses to X each share a lock with main's (lock_x for the write,
// lock_y for the read), and they are ordered with each other by being in one thread. Y is always
// accessed under lock_y.
// NORACE
#include <pthread.h>

int X, Y;
pthread_mutex_t lock_x = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t lock_y = PTHREAD_MUTEX_INITIALIZER;

static void *second(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock_x);
    X = 7; // NORACE: X
    pthread_mutex_unlock(&lock_x);
    pthread_mutex_lock(&lock_y);
    Y = X; // NORACE: X, Y
    pthread_mutex_unlock(&lock_y);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, second, NULL);
    pthread_mutex_lock(&lock_x);
    pthread_mutex_lock(&lock_y);
    X = Y; // NORACE: X, Y
    pthread_mutex_unlock(&lock_y);
    pthread_mutex_unlock(&lock_x);
    pthread_join(thread, NULL);
    return 0;
}
