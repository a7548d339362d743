// A recursive mutex taken twice: after the first unlock it is still held, after the second it is not.
// A detector that forgets to count gets one of the two accesses wrong.
#include <pthread.h>

int total;
pthread_mutex_t lock;

static void *uneven(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    total++; // NORACE: total
    pthread_mutex_unlock(&lock);
    total++; // RACE: total with line 22
    return NULL;
}

static void *steady(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    total++; // RACE: total with line 15
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attributes);

    pthread_t first, second;
    pthread_create(&first, NULL, uneven, NULL);
    pthread_create(&second, NULL, steady, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
