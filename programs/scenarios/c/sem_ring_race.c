// The ring of sem_ring.c with two producers, each with a place of its own. The semaphores count places right, but
// what was produced is counted by both, and room for two lets both in at once. One of them usually comes
// when the other is through, and then the consumer's post orders them.
//
#include <pthread.h>
#include <semaphore.h>

enum { PLACES = 2 };
int ring[PLACES], produced;
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
    ring[arg != NULL] = 1; // NORACE: ring
    produced++; // RACE: produced with line 30
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
