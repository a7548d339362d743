// Main joins a thread with a lock held that the thread never takes while main holds it: the thread has what it
// needs from it before it says that it started, and main waits for that.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: total 2
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

int total;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
sem_t started;

static void *work(void *arg) {
    pthread_mutex_lock(&lock);
    total++; // NORACE: total
    pthread_mutex_unlock(&lock);
    sem_post(&started);
    pthread_mutex_lock(&other);
    pthread_mutex_unlock(&other);
    return arg;
}

int main(void) {
    pthread_t thread;
    sem_init(&started, 0, 0);
    pthread_create(&thread, NULL, work, NULL);
    sem_wait(&started);
    pthread_mutex_lock(&lock);
    total++; // NORACE: total
    pthread_join(thread, NULL);
    pthread_mutex_unlock(&lock);
    printf("total %d\n", total);
    sem_destroy(&started);
    return 0;
}
