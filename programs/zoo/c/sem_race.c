// A semaphore used as a lock, but started at two: it lets both threads in.
#include <pthread.h>
#include <semaphore.h>

int total;
sem_t places;

static void *adder(void *arg) {
    (void)arg;
    sem_wait(&places);
    total++; // RACE: total with line 11
    sem_post(&places);
    return NULL;
}

int main(void) {
    sem_init(&places, 0, 2);
    pthread_t first, second;
    pthread_create(&first, NULL, adder, NULL);
    pthread_create(&second, NULL, adder, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
