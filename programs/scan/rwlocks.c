// Locks for reading and writing.
#include <pthread.h>

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int proper, wrong, read_only_sides, tried;

static int look(void) {
    pthread_rwlock_rdlock(&lock);
    int n = proper;                 // NORACE
    wrong++;                        // RACE!
    n += read_only_sides;           // NORACE
    pthread_rwlock_unlock(&lock);
    return n;
}

static void change(int n) {
    pthread_rwlock_wrlock(&lock);
    proper = n;                     // NORACE
    read_only_sides = n;            // NORACE
    pthread_rwlock_unlock(&lock);
    if (pthread_rwlock_trywrlock(&lock) == 0) {
        tried++;                    // NORACE
        pthread_rwlock_unlock(&lock);
    }
    if (pthread_rwlock_tryrdlock(&lock) == 0) {
        n += tried;                 // NORACE
        pthread_rwlock_unlock(&lock);
    }
}

static void *worker(void *unused) {
    change(look());
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return proper;                  // NORACE
}
