// The waiter gives up at once, drops the mutex and takes whatever value is there.
#include <pthread.h>
#include <time.h>

int value;
int seen;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *producer(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    value = 42; // RACE: value with line 26
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct timespec long_ago = {0};
    pthread_create(&thread, NULL, producer, NULL);
    pthread_mutex_lock(&lock);
    pthread_cond_timedwait(&changed, &lock, &long_ago);
    pthread_mutex_unlock(&lock);
    seen = value; // RACE: value with line 13
    pthread_join(thread, NULL);
    return 0;
}
