// Users and groups belong to the process, but the kernel keeps them for each thread: the C library has
// all threads change theirs, and waits for each, whatever it is doing.
//
// NORACE
// EXPECT-STDOUT: total 3, changed
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

int total;
sem_t go;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
    sem_wait(&go);
    pthread_mutex_lock(&lock);
    total++; // NORACE: total
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    sem_init(&go, 0, 0);
    pthread_create(&threads[0], NULL, worker, NULL);
    pthread_create(&threads[1], NULL, worker, NULL);
    sem_post(&go);
    int changed = setgid(getgid()) == 0 && setresuid(-1, getuid(), -1) == 0 && setuid(getuid()) == 0;
    sem_post(&go);
    pthread_mutex_lock(&lock);
    total++; // NORACE: total
    pthread_mutex_unlock(&lock);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("total %d, %s\n", total, changed ? "changed" : "refused");
    return 0;
}
