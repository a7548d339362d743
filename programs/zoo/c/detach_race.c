// A thread that detaches itself goes on writing after it has told main that it is finished.
#include <pthread.h>
#include <semaphore.h>

int result;
int seen;
sem_t finished, gone;

static void *compute(void *arg) {
    (void)arg;
    pthread_detach(pthread_self());
    result = 41; // NORACE: result
    sem_post(&finished);
    result = 42; // RACE: result with line 25
    sem_post(&gone);
    return NULL;
}

int main(void) {
    pthread_t thread;
    sem_init(&finished, 0, 0);
    sem_init(&gone, 0, 0);
    pthread_create(&thread, NULL, compute, NULL);
    sem_wait(&finished);
    seen = result; // RACE: result with line 14
    sem_wait(&gone);
    return 0;
}
