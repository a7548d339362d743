// Threads that nobody joins, in order by a lock: whatever they get to do before the process ends, there is no race.
//
// NORACE
#include <pthread.h>

int value;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
    pthread_mutex_lock(&lock);
    value++;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, worker, NULL);
    pthread_create(&other, NULL, worker, NULL);
    pthread_mutex_lock(&lock);
    value++;
    pthread_mutex_unlock(&lock);
    return 0;
}
