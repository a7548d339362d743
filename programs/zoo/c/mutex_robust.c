// The owner of a robust mutex ends without unlocking it. The next thread gets the mutex together with
// EOWNERDEAD, repairs it, and sees everything the dead owner wrote. (Stock TSan misses the edge from
// the owner's death and reports `half_done`.)
//
// NORACE
// EXPECT-STDOUT: half_done 1
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

int half_done;
pthread_mutex_t lock;
sem_t taken;

static void *dying_owner(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    sem_post(&taken);
    half_done = 1; // NORACE: half_done
    return NULL;
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&lock, &attributes);
    sem_init(&taken, 0, 0);

    pthread_t owner;
    pthread_create(&owner, NULL, dying_owner, NULL);
    sem_wait(&taken);
    int result = pthread_mutex_lock(&lock);
    assert(result == EOWNERDEAD);
    pthread_mutex_consistent(&lock);
    printf("half_done %d\n", half_done); // NORACE: half_done
    pthread_mutex_unlock(&lock);
    pthread_join(owner, NULL);
    return 0;
}
