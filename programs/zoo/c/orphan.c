// A thread starts another one, detached, and ends at once. What the first wrote before that is visible
// to the second, and main hears from the second through a semaphore.
//
// NORACE
// EXPECT-STDOUT: inheritance 43
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

int inheritance;
sem_t finished;

static void *orphan(void *arg) {
    (void)arg;
    inheritance++; // NORACE: inheritance
    sem_post(&finished);
    return NULL;
}

static void *parent(void *arg) {
    (void)arg;
    inheritance = 42; // NORACE: inheritance
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    pthread_create(&thread, &detached, orphan, NULL);
    pthread_attr_destroy(&detached);
    return NULL;
}

int main(void) {
    pthread_t thread;
    sem_init(&finished, 0, 0);
    pthread_create(&thread, NULL, parent, NULL);
    pthread_join(thread, NULL);
    sem_wait(&finished);
    printf("inheritance %d\n", inheritance); // NORACE: inheritance
    return 0;
}
