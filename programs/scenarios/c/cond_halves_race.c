// One broadcast sends two workers to their halves of an array. The halves overlap by one element: the first
// worker goes one too far. It reports under the lock when it is through, and the second usually comes to
// that lock later, which orders them.
//
#include <pthread.h>
#include <stdbool.h>

enum { HALF = 2 };
bool go;
int cells[2 * HALF], reports;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

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

static void *worker(void *arg) {
    int first = arg ? HALF : 0;
    int last = arg ? 2 * HALF - 1 : HALF;
    if (arg)
        dawdle();
    pthread_mutex_lock(&lock);
    while (!go) // NORACE: go
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    for (int i = first; i <= last; i++)
        cells[i]++; // RACE: cells with line 37
    pthread_mutex_lock(&lock);
    reports++; // NORACE: reports
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, worker, NULL);
    pthread_create(&threads[1], NULL, worker, threads);
    pthread_mutex_lock(&lock);
    go = true; // NORACE: go
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
