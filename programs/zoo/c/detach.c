// A detached thread cannot be joined; it says that it has finished through a semaphore.
//
// NORACE
// EXPECT-STDOUT: result 42
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

int result;
sem_t finished;

static void *compute(void *arg) {
    (void)arg;
    result = 42; // NORACE: result
    sem_post(&finished);
    return NULL;
}

int main(void) {
    pthread_t thread;
    sem_init(&finished, 0, 0);
    pthread_create(&thread, NULL, compute, NULL);
    pthread_detach(thread);
    sem_wait(&finished);
    printf("result %d\n", result); // NORACE: result
    return 0;
}
