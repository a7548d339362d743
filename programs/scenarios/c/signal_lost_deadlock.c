// A wait without a condition to look at: if the signal comes before the wait, nobody hears it, and the wait
// never ends. The waiter usually has time enough to get there.
//
// NORACE
#include <pthread.h>

int woken;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t done = PTHREAD_COND_INITIALIZER;

static void *waiter(void *arg) {
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&done, &lock); // DEADLOCK: waits for done
    woken++; // NORACE: woken
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *nothing(void *arg) {
    return arg;
}

// Meanwhile the other thread usually gets through, but nothing makes it.
static void dawdle(void) {
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, nothing, NULL);
        pthread_join(thread, NULL);
    }
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, waiter, NULL);
    dawdle();
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&done);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
