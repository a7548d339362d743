// A ring of three locks and three threads, of which two hold a fourth lock, the gate, around their part. The
// ring needs all three at once, and those two never are. (Stock TSan reports a lock-order inversion.)
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: total 3
#include <pthread.h>
#include <stdio.h>

int total;
pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER, count = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t locks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void nest(int outer) {
    pthread_mutex_lock(&locks[outer]);
    pthread_mutex_lock(&locks[(outer + 1) % 3]);
    pthread_mutex_lock(&count);
    total++; // NORACE: total
    pthread_mutex_unlock(&count);
    pthread_mutex_unlock(&locks[(outer + 1) % 3]);
    pthread_mutex_unlock(&locks[outer]);
}

static void *gated(void *arg) {
    pthread_mutex_lock(&gate);
    nest(arg != NULL);
    pthread_mutex_unlock(&gate);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, gated, NULL);
    pthread_create(&threads[1], NULL, gated, threads);
    nest(2);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("total %d\n", total);
    return 0;
}
