// A condition that one thread announces and another waits for orders what came before with what comes after.
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t ready_condition = PTHREAD_COND_INITIALIZER;
pthread_cond_t timed_condition = PTHREAD_COND_INITIALIZER;
int ready, data, afterwards, timed_data;

static void *producer(void *unused) {
    data = 42;                      // NORACE
    timed_data = 1;                 // RACE!
    pthread_mutex_lock(&lock);
    ready = 1;                      // NORACE
    pthread_cond_signal(&ready_condition);
    pthread_cond_signal(&timed_condition);
    pthread_mutex_unlock(&lock);
    afterwards = 1;                 // RACE!
    return unused;
}

static void *consumer(void *unused) {
    pthread_mutex_lock(&lock);
    while (!ready)                  // NORACE
        pthread_cond_wait(&ready_condition, &lock);
    pthread_mutex_unlock(&lock);
    int n = data;                   // NORACE
    data = n + 1;                   // NORACE
    afterwards = n;                 // RACE!
    return unused;
}

static void *hasty(void *deadline) {
    pthread_mutex_lock(&lock);
    pthread_cond_timedwait(&timed_condition, &lock, deadline);
    pthread_mutex_unlock(&lock);
    timed_data = 2;                 // RACE!
    return 0;
}

int main(void) {
    pthread_t a, b, c;
    struct timespec deadline = {0, 0};
    pthread_create(&a, 0, producer, 0);
    pthread_create(&b, 0, consumer, 0);
    pthread_create(&c, 0, hasty, &deadline);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return data;                    // NORACE
}
