// A ring of two places for one producer and one consumer, with two semaphores and no lock: one counts the
// free places, the other the filled ones. Each side has an index of its own.
//
// NORACE
// EXPECT-STDOUT: sum 15
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

enum { PLACES = 2, ITEMS = 5 };
int ring[PLACES];
sem_t room, filled;

static void *producer(void *arg) {
    for (int i = 0; i < ITEMS; i++) {
        sem_wait(&room);
        ring[i % PLACES] = i + 1; // NORACE: ring
        sem_post(&filled);
    }
    return arg;
}

int main(void) {
    pthread_t thread;
    int sum = 0;
    sem_init(&room, 0, PLACES);
    sem_init(&filled, 0, 0);
    pthread_create(&thread, NULL, producer, NULL);
    for (int i = 0; i < ITEMS; i++) {
        sem_wait(&filled);
        sum += ring[i % PLACES]; // NORACE: ring
        sem_post(&room);
    }
    pthread_join(thread, NULL);
    printf("sum %d\n", sum);
    sem_destroy(&room);
    sem_destroy(&filled);
    return 0;
}
