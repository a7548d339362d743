// A cycle through two locks and a join: main holds one lock and wants the other; a thread holds that one and
// joins a third thread, which wants main's.
//
// NORACE
#include <pthread.h>

int total;
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

static void *last(void *arg) {
    pthread_mutex_lock(&a); // DEADLOCK: waits for a, with lines 35, 47
    total++; // NORACE: total
    pthread_mutex_unlock(&a);
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

static void *starter(void *arg) {
    pthread_t child;
    pthread_create(&child, NULL, last, NULL);
    pthread_mutex_lock(&b);
    pthread_join(child, NULL); // DEADLOCK: waits for child holding b, with lines 12, 47
    pthread_mutex_unlock(&b);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, starter, NULL);
    dawdle();
    dawdle();
    dawdle();
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b); // DEADLOCK: waits for b holding a, with lines 12, 35
    total++; // NORACE: total
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_join(thread, NULL);
    return 0;
}
