// The plugin of dlopen.c and dlopen_race.c: counts its calls under its own mutex and calls back.
//
// PART-OF: dlopen.c
// NORACE
#include <pthread.h>

static int calls;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int plugin_work(void (*tick)(void)) {
    pthread_mutex_lock(&lock);
    int count = ++calls; // NORACE: calls
    pthread_mutex_unlock(&lock);
    tick();
    return count;
}
