// A thread reads under a read-write lock and reads again inside, while a writer may be waiting. The lock is of the
// default kind, which in glibc lets readers pass waiting writers, so the second request never waits.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: done
#include <pthread.h>
#include <stdio.h>

int value = 1, seen;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *writer(void *arg) {
    pthread_rwlock_wrlock(&lock);
    value++; // NORACE: value
    pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, writer, NULL);
    pthread_rwlock_rdlock(&lock);
    seen = value; // NORACE: value
    pthread_rwlock_rdlock(&lock);
    seen += value; // NORACE: value
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_unlock(&lock);
    pthread_join(thread, NULL);
    printf("done\n");
    return 0;
}
