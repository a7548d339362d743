// A join that the C library answers instead of waiting: of oneself. And one that it refuses: of a detached thread.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: itself EDEADLK, detached EINVAL
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

sem_t go, gone;

static void *detached(void *arg) {
    sem_wait(&go);
    sem_post(&gone);
    return arg;
}

int main(void) {
    pthread_t thread;
    sem_init(&go, 0, 0);
    sem_init(&gone, 0, 0);
    pthread_create(&thread, NULL, detached, NULL);
    pthread_detach(thread);
    int itself = pthread_join(pthread_self(), NULL);
    int other = pthread_join(thread, NULL);
    sem_post(&go);
    sem_wait(&gone);
    printf("itself %s, detached %s\n", itself == EDEADLK ? "EDEADLK" : "?",
           other == EINVAL ? "EINVAL" : "?");
    return 0;
}
