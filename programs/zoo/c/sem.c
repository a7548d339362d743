// Two semaphores pass a slot back and forth between producer and consumer.
//
// NORACE
// EXPECT-STDOUT: sum 10
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

enum { ITEMS = 5 };

int slot;
sem_t filled, empty;

static void *producer(void *arg) {
    (void)arg;
    for (int i = 0; i < ITEMS; i++) {
        sem_wait(&empty);
        slot = i; // NORACE: slot
        sem_post(&filled);
    }
    return NULL;
}

int main(void) {
    int sum = 0;
    sem_init(&filled, 0, 0);
    sem_init(&empty, 0, 1);
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    for (int i = 0; i < ITEMS; i++) {
        sem_wait(&filled);
        sum += slot; // NORACE: slot
        sem_post(&empty);
    }
    pthread_join(thread, NULL);
    printf("sum %d\n", sum);
    sem_destroy(&filled);
    sem_destroy(&empty);
    return 0;
}
