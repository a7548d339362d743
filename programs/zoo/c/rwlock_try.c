// Read and write locks taken with the try functions, asked for again until they are granted.
//
// NORACE
// EXPECT-STDOUT: value 5
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { ROUNDS = 5 };

int value;
int last_seen;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *reader(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        while (pthread_rwlock_tryrdlock(&lock) != 0)
            sched_yield();
        last_seen = value; // NORACE: value
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        while (pthread_rwlock_trywrlock(&lock) != 0)
            sched_yield();
        value++; // NORACE: value
        pthread_rwlock_unlock(&lock);
    }
    pthread_join(thread, NULL);
    printf("value %d\n", value);
    return 0;
}
