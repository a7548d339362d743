// One thread adds to the counter under the mutex, the other forgets to take it.
#include <pthread.h>

enum { ROUNDS = 10 };

int total;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *careful(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        total++; // RACE: total with line 21
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *careless(void *arg) {
    (void)arg;
    total++; // RACE: total with line 13
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, careful, NULL);
    pthread_create(&second, NULL, careless, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
