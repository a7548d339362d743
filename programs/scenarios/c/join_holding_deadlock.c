// Main joins a thread while it holds a lock that the thread needs. The thread is usually through with the lock
// before main takes it.
//
// NORACE
#include <pthread.h>

int total;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *arg) {
    pthread_mutex_lock(&lock); // DEADLOCK: waits for lock, with line 35
    total++; // NORACE: total
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
    pthread_t adder;
    pthread_create(&adder, NULL, add, NULL);
    dawdle();
    pthread_mutex_lock(&lock);
    pthread_join(adder, NULL); // DEADLOCK: waits for adder holding lock, with line 11
    total++; // NORACE: total
    pthread_mutex_unlock(&lock);
    return 0;
}
