// Main joins the first of two workers and reads what both have written. The second is usually through as well, and
// its last act under the lock comes before the first one's: then the join orders it too, by way of the lock.
//
#include <pthread.h>

int results[2], last, sum;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

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
    int mine = arg != NULL;
    if (mine == 0)
        dawdle();
    results[mine] = 1; // RACE: results with line 38
    pthread_mutex_lock(&lock);
    last = mine; // NORACE: last
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, worker, NULL);
    pthread_create(&threads[1], NULL, worker, threads);
    pthread_join(threads[0], NULL);
    sum = results[0] + results[1]; // RACE: results with line 26
    pthread_join(threads[1], NULL);
    return 0;
}
