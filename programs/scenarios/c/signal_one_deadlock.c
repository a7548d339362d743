// Two threads wait for the same flag, which is looked at in proper order, but only one signal comes. If both
// wait when it does, one of them is left for ever. Usually the second comes when the flag is up. A run
// in which it does not wait shows no wait that could be in vain: the error lies on another path.
//
// NORACE
#include <pthread.h>
#include <stdbool.h>

bool open;
int through;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

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

static void *visitor(void *arg) {
    if (arg)
        dawdle();
    pthread_mutex_lock(&lock);
    while (!open) // NORACE: open
        pthread_cond_wait(&changed, &lock); // DEADLOCK: waits for changed
    through++; // NORACE: through
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, visitor, NULL);
    pthread_create(&threads[1], NULL, visitor, threads);
    pthread_mutex_lock(&lock);
    open = true; // NORACE: open
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
