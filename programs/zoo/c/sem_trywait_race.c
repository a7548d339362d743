// The consumer tries the semaphore once and reads the value whatever the answer was.
#include <pthread.h>
#include <semaphore.h>

int value;
int seen;
sem_t ready;

static void *producer(void *arg) {
    (void)arg;
    value = 1; // RACE: value with line 21
    sem_post(&ready);
    return NULL;
}

int main(void) {
    sem_init(&ready, 0, 0);
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    sem_trywait(&ready);
    seen = value; // RACE: value with line 11
    pthread_join(thread, NULL);
    return 0;
}
