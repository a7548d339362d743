// A structure assigned as a whole under a mutex, and changed field by field under the same one.
//
// NORACE
// EXPECT-STDOUT: same 1
#include <pthread.h>
#include <stdio.h>

struct reading {
    long values[8];
};

struct reading latest, copy;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *sensor(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 8; i++)
        latest.values[i] = 20; // NORACE: latest
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, sensor, NULL);
    pthread_mutex_lock(&lock);
    copy = latest; // NORACE: latest
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    printf("same %d\n", copy.values[0] == copy.values[7]);
    return 0;
}
