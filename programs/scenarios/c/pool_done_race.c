// A worker reports its job as done before it has written the result. Main waits for the report and reads. The
// worker usually gets to its result, and through the lock once more to look for another job, long before
// main looks.
//
#include <pthread.h>
#include <stdbool.h>

int result, seen;
bool done, more;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *worker(void *arg) {
    pthread_mutex_lock(&lock);
    done = true; // NORACE: done
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    result = 9; // RACE: result with line 46
    pthread_mutex_lock(&lock);
    more = false; // NORACE: more
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
    pthread_create(&thread, NULL, worker, NULL);
    dawdle();
    pthread_mutex_lock(&lock);
    while (!done) // NORACE: done
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    seen = result; // RACE: result with line 18
    pthread_join(thread, NULL);
    return 0;
}
