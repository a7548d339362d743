// Both threads take a mutex around the counter, but not the same one.
#include <pthread.h>

int total;
pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t second_lock = PTHREAD_MUTEX_INITIALIZER;

static void *first_adder(void *arg) {
    (void)arg;
    pthread_mutex_lock(&first_lock);
    total++; // RACE: total with line 19
    pthread_mutex_unlock(&first_lock);
    return NULL;
}

static void *second_adder(void *arg) {
    (void)arg;
    pthread_mutex_lock(&second_lock);
    total++; // RACE: total with line 11
    pthread_mutex_unlock(&second_lock);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, first_adder, NULL);
    pthread_create(&second, NULL, second_adder, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
