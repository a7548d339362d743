// A busy thread that can only be cancelled where it says so: not inside the critical section, where
// cancellation is disabled, but at the explicit check after it.
//
// NORACE
// EXPECT-STDOUT: even 1
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 100 };

int left, right;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        int before;
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
        pthread_mutex_lock(&lock);
        left++; // NORACE: left
        right++; // NORACE: right
        pthread_mutex_unlock(&lock);
        pthread_setcancelstate(before, NULL);
        pthread_testcancel();
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&lock);
    int even = left == right; // NORACE: left, right
    pthread_mutex_unlock(&lock);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    printf("even %d\n", even && left == right);
    return 0;
}
