// A thread asks for the mutex with trylock and goes on even when it did not get it. The race needs a
// run in which a trylock fails; when all succeed, every access is properly locked.
#include <pthread.h>
#include <stdbool.h>

int total;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *adder(void *arg) {
    (void)arg;
    bool locked = pthread_mutex_trylock(&lock) == 0;
    total++; // RACE: total with line 12
    if (locked)
        pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, adder, NULL);
    pthread_create(&second, NULL, adder, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
