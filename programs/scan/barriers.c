// Before and after a barrier that all threads pass; a barrier that is too small orders nothing.
#include <pthread.h>

pthread_barrier_t both, small;
int from_first, from_second, same_side, apart;

static void *first(void *unused) {
    from_first = 1;                 // NORACE
    same_side = 1;                  // RACE!
    pthread_barrier_wait(&both);
    int n = from_second;            // NORACE
    from_second = n;                // NORACE
    return unused;
}

static void *second(void *unused) {
    from_second = 2;                // NORACE
    same_side = 2;                  // RACE!
    pthread_barrier_wait(&both);
    int n = from_first;             // NORACE
    from_first = n;                 // NORACE
    return unused;
}

static void *early(void *unused) {
    apart = 1;                      // RACE!
    pthread_barrier_wait(&small);
    return unused;
}

static void *late(void *unused) {
    pthread_barrier_wait(&small);
    apart = 2;                      // RACE!
    return unused;
}

static void *filler(void *unused) {
    pthread_barrier_wait(&small);
    return unused;
}

int main(void) {
    pthread_t threads[6];
    pthread_barrier_init(&both, 0, 2);
    pthread_barrier_init(&small, 0, 2);
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
    pthread_create(&threads[2], 0, early, 0);
    pthread_create(&threads[3], 0, late, 0);
    pthread_create(&threads[4], 0, filler, 0);
    pthread_create(&threads[5], 0, filler, 0);
    pthread_exit(0);
}
