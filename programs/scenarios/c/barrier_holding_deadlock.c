// A thread waits at a barrier with a lock held that the other one needs on its way there. Usually the other is
// already at the barrier.
//
// NORACE
#include <pthread.h>

int total;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_barrier_t meeting;

static void *other(void *arg) {
    pthread_mutex_lock(&lock); // DEADLOCK: waits for lock, with line 38
    total++; // NORACE: total
    pthread_mutex_unlock(&lock);
    pthread_barrier_wait(&meeting);
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
    pthread_barrier_init(&meeting, NULL, 2);
    pthread_create(&thread, NULL, other, NULL);
    dawdle();
    pthread_mutex_lock(&lock);
    pthread_barrier_wait(&meeting); // DEADLOCK: waits for meeting holding lock, with line 12
    total++; // NORACE: total
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&meeting);
    return 0;
}
