// The ring of sem_ring.c with two producers. The semaphores count places right, but the index of the next free
// place is now shared, and room for two lets both producers in at once. One of them usually comes when
// the other is through, and then the consumer's post orders them.
//
#include <pthread.h>
#include <semaphore.h>

enum { PLACES = 2 };
int ring[PLACES], next;
sem_t room, filled;

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

static void *producer(void *arg) {
    if (arg)
        dawdle();
    sem_wait(&room);
    ring[next % PLACES] = 1; // RACE: next with line 30, ring with line 29
    next++; // RACE: next with line 30, next with line 29
    sem_post(&filled);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    sem_init(&room, 0, PLACES);
    sem_init(&filled, 0, 0);
    pthread_create(&threads[0], NULL, producer, NULL);
    pthread_create(&threads[1], NULL, producer, threads);
    for (int i = 0; i < 2; i++) {
        sem_wait(&filled);
        sem_post(&room);
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    sem_destroy(&room);
    sem_destroy(&filled);
    return 0;
}
