// The second runner notes the distance before it waits for the baton. It usually comes late, when the first one
// is through, and it has looked at the clock under the lock before.
//
#include <pthread.h>
#include <stdbool.h>

bool passed_on;
int distance, noted, clock_reads;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t passed = PTHREAD_COND_INITIALIZER;

static void *first(void *arg) {
    distance++; // RACE: distance with line 41
    pthread_mutex_lock(&lock);
    passed_on = true; // NORACE: passed_on
    pthread_cond_signal(&passed);
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
    pthread_create(&thread, NULL, first, NULL);
    dawdle();
    pthread_mutex_lock(&lock);
    clock_reads++; // NORACE: clock_reads
    pthread_mutex_unlock(&lock);
    noted = distance; // RACE: distance with line 13
    pthread_mutex_lock(&lock);
    while (!passed_on) // NORACE: passed_on
        pthread_cond_wait(&passed, &lock);
    pthread_mutex_unlock(&lock);
    distance++; // NORACE: distance
    pthread_join(thread, NULL);
    return 0;
}
