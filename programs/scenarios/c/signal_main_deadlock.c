// The first thread waits without a condition to look at. If the signal comes before the wait, nobody hears it, and when
// the worker has ended nobody is left but the first thread, which waits for ever.
//
// NORACE
#include <pthread.h>

int result, seen;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t done = PTHREAD_COND_INITIALIZER;

static void *nothing(void *arg) {
    return arg;
}

// Meanwhile the first thread usually gets to its wait, but nothing makes it.
static void dawdle(void) {
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, nothing, NULL);
        pthread_join(thread, NULL);
    }
}

static void *worker(void *arg) {
    dawdle();
    pthread_mutex_lock(&lock);
    result = 42; // NORACE: result
    pthread_cond_signal(&done);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&done, &lock); // DEADLOCK: waits for done
    seen = result; // NORACE: result
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
