// The writer asks for the write lock once and writes even if a reader was inside.
#include <pthread.h>
#include <stdbool.h>

int value;
int seen;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *reader(void *arg) {
    (void)arg;
    pthread_rwlock_rdlock(&lock);
    seen = value; // RACE: value with line 21
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    bool locked = pthread_rwlock_trywrlock(&lock) == 0;
    value = 1; // RACE: value with line 12
    if (locked)
        pthread_rwlock_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
