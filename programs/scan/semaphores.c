// Semaphores as locks, as messages, with room for two, and one that somebody else gives back.
#include <pthread.h>
#include <semaphore.h>

sem_t mutex, message, two, passed_on;
int guarded, sent, crowded, tried, loose;

static void *worker(void *unused) {
    sem_wait(&mutex);
    guarded++;                      // NORACE
    sem_post(&mutex);
    sent = 1;                       // NORACE
    sem_post(&message);
    sem_wait(&two);
    crowded++;                      // RACE!
    sem_post(&two);
    if (sem_trywait(&mutex) == 0) {
        tried++;                    // NORACE
        sem_post(&mutex);
    }
    sem_wait(&passed_on);
    loose++;                        // RACE!
    return unused;
}

static void *giver(void *unused) {
    sem_post(&passed_on);
    return unused;
}

int main(void) {
    pthread_t thread, other;
    sem_init(&mutex, 0, 1);
    sem_init(&message, 0, 0);
    sem_init(&two, 0, 2);
    sem_init(&passed_on, 0, 1);
    pthread_create(&thread, 0, worker, 0);
    pthread_create(&other, 0, giver, 0);
    sem_wait(&mutex);
    guarded++;                      // NORACE
    tried++;                        // NORACE
    sem_post(&mutex);
    sem_wait(&message);
    sent++;                         // NORACE
    sem_wait(&two);
    crowded++;                      // RACE!
    sem_post(&two);
    sem_wait(&passed_on);
    loose++;                        // RACE!
    pthread_join(thread, 0);
    pthread_join(other, 0);
    return 0;
}
