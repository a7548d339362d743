// A thread asks for a normal mutex that it already holds. It does so only when it finds a complaint.
// Main complains only when it knows that the inspector is at work, and is then usually too late.
//
// NORACE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

atomic_bool at_work;
int complaints;
int reports;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void report(void) {
    pthread_mutex_lock(&lock); // DEADLOCK: waits for lock holding lock
    reports++; // NORACE: reports
    pthread_mutex_unlock(&lock);
}

static void *inspector(void *arg) {
    (void)arg;
    atomic_store(&at_work, true);
    pthread_mutex_lock(&lock);
    if (complaints > 0) // NORACE: complaints
        report();
    pthread_mutex_unlock(&lock);
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
    pthread_create(&thread, NULL, inspector, NULL);
    dawdle();
    if (atomic_load(&at_work)) {
        pthread_mutex_lock(&lock);
        complaints++; // NORACE: complaints
        pthread_mutex_unlock(&lock);
    }
    pthread_join(thread, NULL);
    return 0;
}
