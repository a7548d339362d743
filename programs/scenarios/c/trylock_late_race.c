// A thread tries for the mutex and counts only if it got it, but it also notes its visit when it has given
// the mutex back. Main does the same under the mutex, in the usual case much later. The note lies on every
// path, so one run shows both.
//
#include <pthread.h>

int count, visits;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *visit(void *arg) {
    if (pthread_mutex_trylock(&lock) == 0) {
        count++; // NORACE: count
        pthread_mutex_unlock(&lock);
    }
    visits++; // RACE: visits with line 41
    pthread_mutex_lock(&lock);
    count++; // NORACE: count
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
    pthread_t thread;
    pthread_create(&thread, NULL, visit, NULL);
    dawdle();
    pthread_mutex_lock(&lock);
    count++; // NORACE: count
    visits++; // RACE: visits with line 15
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
