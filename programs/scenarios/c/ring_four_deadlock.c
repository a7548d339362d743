// Four philosophers, four forks: each takes the left one and then the right one. Any three of them get through;
// all four at once, each with one fork, wait for ever. They usually come one after the other.
//
// NORACE
#include <pthread.h>
#include <stdint.h>

enum { SEATS = 4 };
pthread_mutex_t forks[SEATS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
int meals[SEATS];

static void *dine(void *arg) {
    intptr_t seat = (intptr_t)arg;
    pthread_mutex_lock(&forks[seat]);
    pthread_mutex_lock(&forks[(seat + 1) % SEATS]); // DEADLOCK: waits for forks holding forks, with lines 15, 15, 15
    meals[seat]++;
    pthread_mutex_unlock(&forks[(seat + 1) % SEATS]);
    pthread_mutex_unlock(&forks[seat]);
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
    pthread_t threads[SEATS];
    for (intptr_t i = 0; i < SEATS; i++) {
        pthread_create(&threads[i], NULL, dine, (void *)i);
        dawdle();
    }
    for (int i = 0; i < SEATS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
