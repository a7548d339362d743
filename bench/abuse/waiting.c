// Waits with time-outs on the clock on the wall, which may be set meanwhile, on a queue that another thread fills.
//
// NORACE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { ITEMS = 200 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int waiting, taken;

static void *fill(void *unused) {
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&lock);
        waiting++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t filler;
    pthread_create(&filler, NULL, fill, NULL);
    pthread_mutex_lock(&lock);
    while (taken < ITEMS) {
        while (waiting == 0) {
            struct timespec until;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_nsec = (until.tv_nsec + 1000000) % 1000000000;
            pthread_cond_timedwait(&changed, &lock, &until);
        }
        waiting--;
        taken++;
    }
    pthread_mutex_unlock(&lock);
    pthread_join(filler, NULL);
    printf("%d\n", taken);
}
