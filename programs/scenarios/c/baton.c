// A baton goes around three runners: a runner waits until the baton is his, runs, and passes it on. The
// distance belongs to whoever has the baton and is changed without a lock.
//
// NORACE
// EXPECT-STDOUT: distance 3
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

intptr_t baton;
int distance;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t passed = PTHREAD_COND_INITIALIZER;

static void *run(void *arg) {
    intptr_t mine = (intptr_t)arg;
    pthread_mutex_lock(&lock);
    while (baton != mine) // NORACE: baton
        pthread_cond_wait(&passed, &lock);
    pthread_mutex_unlock(&lock);
    distance++; // NORACE: distance
    pthread_mutex_lock(&lock);
    baton++; // NORACE: baton
    pthread_cond_broadcast(&passed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    for (intptr_t i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("distance %d\n", distance);
    return 0;
}
