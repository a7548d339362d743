// The waiter checks the flag and only then, in a second step, goes to sleep; the signaller does not
// take the mutex. If flag and signal fall between check and sleep, nobody is there to hear the signal
// and the wait never ends. In most runs the flag is already up when the waiter checks it.
//
// NORACE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

atomic_bool finished;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t done = PTHREAD_COND_INITIALIZER;

static void *signaller(void *arg) {
    (void)arg;
    atomic_store(&finished, true); // NORACE: finished
    pthread_cond_signal(&done);
    return NULL;
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
    pthread_create(&thread, NULL, signaller, NULL);
    dawdle();
    if (!atomic_load(&finished)) { // NORACE: finished
        pthread_mutex_lock(&lock);
        pthread_cond_wait(&done, &lock); // DEADLOCK: waits for done
        pthread_mutex_unlock(&lock);
    }
    pthread_join(thread, NULL);
    return 0;
}
