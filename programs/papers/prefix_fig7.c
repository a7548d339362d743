// From "prefix", figure 7: a race whose second half lies after the warning, not before it.
//
// The lockset of X becomes empty at the second thread's read of X under lock_y alone. If main has only
// read X until then, nothing before that point conflicts with it; main's later write, under lock_x
// alone, does. A search that only looks back from the warning finds nothing.
//
// Verdict: main's write of X holds lock_x, the second thread's last read of X holds lock_y, and both
// can be next at once: a race. Every other pair on X has lock_x in common, and Y is always accessed
// under lock_y.
#include <pthread.h>

int X, Y;
pthread_mutex_t lock_x = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t lock_y = PTHREAD_MUTEX_INITIALIZER;

static void *second(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock_x);
    pthread_mutex_lock(&lock_y);
    Y = X; // NORACE: X, Y
    pthread_mutex_unlock(&lock_y);
    pthread_mutex_unlock(&lock_x);

    pthread_mutex_lock(&lock_x);
    X = 7; // NORACE: X
    pthread_mutex_unlock(&lock_x);
    pthread_mutex_lock(&lock_y);
    Y = X; // RACE: X with line 43 // NORACE: Y
    pthread_mutex_unlock(&lock_y);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, second, NULL);
    pthread_mutex_lock(&lock_x);
    pthread_mutex_lock(&lock_y);
    Y = X; // NORACE: X, Y
    pthread_mutex_unlock(&lock_y);
    pthread_mutex_unlock(&lock_x);

    pthread_mutex_lock(&lock_x);
    X = 7; // RACE: X with line 28
    pthread_mutex_unlock(&lock_x);
    pthread_join(thread, NULL);
    return 0;
}
