// A thread waits for the mutex with a time limit that has already passed and touches the counter even
// after a time-out. The time-out needs the other thread inside its critical section.
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

int total;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *hasty(void *arg) {
    (void)arg;
    struct timespec long_ago = {0};
    bool locked = pthread_mutex_timedlock(&lock, &long_ago) == 0;
    total++; // RACE: total with line 24
    if (locked)
        pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, hasty, NULL);
    pthread_mutex_lock(&lock);
    total++; // RACE: total with line 14
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
