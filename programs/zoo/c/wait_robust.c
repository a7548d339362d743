// The owner of robust mutexes ended without unlocking: whoever locks next is told, and is ordered behind it.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: owner dead 1 1, not recoverable 1, value 7
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

pthread_mutex_t kept, lost;
int value;

static void *owner(void *arg) {
    pthread_mutex_lock(&kept);
    pthread_mutex_lock(&lost);
    value = 7; // NORACE: value
    return arg;
}

int main(void) {
    pthread_mutexattr_t robust;
    pthread_t thread;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&kept, &robust);
    pthread_mutex_init(&lost, &robust);
    pthread_create(&thread, NULL, owner, NULL);
    int first;
    // The owner may not have begun.
    while ((first = pthread_mutex_lock(&kept)) != EOWNERDEAD) {
        pthread_mutex_unlock(&kept);
        sched_yield();
    }
    int seen = value; // NORACE: value
    pthread_mutex_consistent(&kept);
    pthread_mutex_unlock(&kept);
    pthread_join(thread, NULL);
    int second = pthread_mutex_trylock(&lost);
    pthread_mutex_unlock(&lost);
    int third = pthread_mutex_lock(&lost);
    printf("owner dead %d %d, not recoverable %d, value %d\n", first == EOWNERDEAD,
           second == EOWNERDEAD, third == ENOTRECOVERABLE, seen);
    return 0;
}
