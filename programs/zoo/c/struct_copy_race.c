// A structure assigned as a whole without the mutex that protects its fields.
#include <pthread.h>

struct reading {
    long values[8];
};

struct reading latest, copy;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *sensor(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    latest.values[7] = 20; // RACE: latest with line 22
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, sensor, NULL);
    copy = latest; // RACE: latest with line 14
    pthread_join(thread, NULL);
    return 0;
}
