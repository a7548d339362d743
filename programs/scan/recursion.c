// Functions that call themselves and each other, with locks held across.
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int inside, outside, even_count, odd_count, gone;

static void down(int n) {
    inside++;                       // NORACE
    if (n > 0)
        down(n - 1);
}

static void own_lock(int n) {
    pthread_mutex_lock(&lock);
    outside++;                      // RACE!
    pthread_mutex_unlock(&lock);
    if (n > 0)
        own_lock(n - 1);
    outside--;                      // RACE!
}

static void odd(int n);
static void even(int n) {
    even_count++;                   // NORACE
    if (n > 0)
        odd(n - 1);
}
static void odd(int n) {
    odd_count++;                    // NORACE
    if (n > 0)
        even(n - 1);
}

static void releases(int n) {
    if (n == 0) {
        pthread_mutex_unlock(&lock);
        return;
    }
    releases(n - 1);
    gone++;                         // RACE!
}

static void *worker(void *argument) {
    int n = (int)(long)argument;
    pthread_mutex_lock(&lock);
    down(n);
    even(n);
    pthread_mutex_unlock(&lock);
    own_lock(n);
    pthread_mutex_lock(&lock);
    releases(n);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, (void *)3);
    pthread_create(&b, 0, worker, (void *)4);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return inside;                  // NORACE
}
