// Locks that the C library refuses to the thread that has them: an error-checking mutex, and a read-write lock held for writing.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: errorcheck 1, write write 1, write read 1
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

int main(void) {
    pthread_mutexattr_t kind;
    pthread_mutex_t mutex;
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&mutex, &kind);
    pthread_mutex_lock(&mutex);
    int again = pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_rwlock_wrlock(&lock);
    int write = pthread_rwlock_wrlock(&lock);
    int read = pthread_rwlock_rdlock(&lock);
    pthread_rwlock_unlock(&lock);
    printf("errorcheck %d, write write %d, write read %d\n", again == EDEADLK, write == EDEADLK,
           read == EDEADLK);
    return 0;
}
