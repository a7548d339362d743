// A worker takes jobs under a lock and looks at a plain stop flag between them. Main raises the flag without
// the lock. It is meant to be benign: the worker stops a job later at worst. Usually there is no job
// left by then, and the last look at the list orders the two.
//
#include <pthread.h>
#include <stdbool.h>

enum { JOBS = 3 };
bool stop;
int left = JOBS, done;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
    for (int i = 0; i < JOBS && !stop; i++) { // RACE: stop with line 43
        pthread_mutex_lock(&lock);
        left--; // NORACE: left
        pthread_mutex_unlock(&lock);
        done++;
    }
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
    pthread_create(&thread, NULL, worker, NULL);
    dawdle();
    pthread_mutex_lock(&lock);
    left++; // NORACE: left
    pthread_mutex_unlock(&lock);
    stop = true; // RACE: stop with line 14
    pthread_join(thread, NULL);
    return 0;
}
