// A helper takes an error-checking mutex that its caller already holds. The second lock fails, which
// the helper ignores; its unlock then releases the caller's hold, and the caller goes on unprotected.
// Its own unlock, later, only returns EPERM.
#include <pthread.h>

int total;
pthread_mutex_t lock;

static void helper(void) {
    pthread_mutex_lock(&lock);
    total++; // NORACE: total
    pthread_mutex_unlock(&lock);
}

static void *caller(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    helper();
    total++; // RACE: total with line 27
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *steady(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    total++; // RACE: total with line 19
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&lock, &attributes);

    pthread_t first, second;
    pthread_create(&first, NULL, caller, NULL);
    pthread_create(&second, NULL, steady, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
