// Two semaphores that start at one, used as locks and taken in opposite orders. (Stock TSan knows no order of
// semaphores and says nothing.)
//
// NORACE
#include <pthread.h>
#include <semaphore.h>

int total;
sem_t a, b;

static void *b_then_a(void *arg) {
    sem_wait(&b);
    sem_wait(&a); // DEADLOCK: waits for a, with line 40
    total++; // NORACE: total
    sem_post(&a);
    sem_post(&b);
    return arg;
}

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

int main(void) {
    pthread_t thread;
    sem_init(&a, 0, 1);
    sem_init(&b, 0, 1);
    pthread_create(&thread, NULL, b_then_a, NULL);
    dawdle();
    sem_wait(&a);
    sem_wait(&b); // DEADLOCK: waits for b, with line 13
    total++; // NORACE: total
    sem_post(&b);
    sem_post(&a);
    pthread_join(thread, NULL);
    sem_destroy(&a);
    sem_destroy(&b);
    return 0;
}
