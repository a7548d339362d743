// Two threads find out the same thing and store the same value without a lock: whoever is second changes
// nothing. Meant to be benign; a race all the same. A lock that both take afterwards, and main before,
// usually orders them.
//
#include <pthread.h>

int found, reports;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void report(void) {
    pthread_mutex_lock(&lock);
    reports++; // NORACE: reports
    pthread_mutex_unlock(&lock);
}

static void *search(void *arg) {
    found = 1; // RACE: found with line 40
    report();
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
    pthread_create(&thread, NULL, search, NULL);
    dawdle();
    report();
    found = 1; // RACE: found with line 17
    pthread_join(thread, NULL);
    return 0;
}
