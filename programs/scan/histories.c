// Acquisition histories: locksets are disjoint at all four accesses, but not every two of them can be reached together.
// The first two threads are those of figure 2 of the paper.
#include <pthread.h>

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;
int crossed, one_sided, nested, waited;
int ready;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void *first(void *unused) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    crossed = 1;                    // NORACE
    one_sided = 1;                  // RACE!
    pthread_mutex_unlock(&a);
    return unused;
}

static void *second(void *unused) {
    pthread_mutex_lock(&b);
    one_sided = 2;                  // RACE!
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    crossed = 2;                    // NORACE
    pthread_mutex_unlock(&b);
    return unused;
}

static void touch(pthread_mutex_t *lock) {
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
}

static void *third(void *unused) {
    pthread_mutex_lock(&a);
    touch(&c);
    nested++;                       // NORACE
    pthread_mutex_unlock(&a);
    pthread_mutex_lock(&a);
    touch(&c);
    while (!ready)                  // NORACE
        pthread_cond_wait(&condition, &a);
    waited++;                       // RACE!
    pthread_mutex_unlock(&a);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
    pthread_create(&threads[2], 0, third, 0);
    pthread_mutex_lock(&c);
    touch(&a);
    nested--;                       // NORACE
    pthread_mutex_lock(&a);
    ready = 1;                      // NORACE
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&a);
    waited--;                       // RACE!
    pthread_mutex_unlock(&c);
    return 0;
}
