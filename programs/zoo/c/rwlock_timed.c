// Read and write locks taken with a time limit that never runs out.
//
// NORACE
// EXPECT-STDOUT: value 5
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 5 };

int value;
int last_seen;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static struct timespec in_an_hour(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += 3600;
    return time;
}

static void *reader(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec limit = in_an_hour();
        if (pthread_rwlock_timedrdlock(&lock, &limit) == 0) {
            last_seen = value; // NORACE: value
            pthread_rwlock_unlock(&lock);
        }
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec limit = in_an_hour();
        if (pthread_rwlock_timedwrlock(&lock, &limit) == 0) {
            value++; // NORACE: value
            pthread_rwlock_unlock(&lock);
        }
    }
    pthread_join(thread, NULL);
    printf("value %d\n", value);
    return 0;
}
