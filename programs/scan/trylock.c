// Attempts to take a lock: the branch tells whether it was taken.
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int taken, not_taken, ignored, kept, negated, spun, wrapped;

static int attempt(void) { return pthread_mutex_trylock(&lock); }

static void *worker(void *unused) {
    if (pthread_mutex_trylock(&lock) == 0) {
        taken++;                    // NORACE
        pthread_mutex_unlock(&lock);
    } else {
        not_taken++;                // RACE!
    }
    if (!pthread_mutex_trylock(&lock)) {
        negated++;                  // NORACE
        pthread_mutex_unlock(&lock);
    }
    if (pthread_mutex_trylock(&lock) != 0)
        return unused;
    kept++;                         // NORACE
    pthread_mutex_unlock(&lock);
    int result = attempt();
    if (result == 0) {
        wrapped++;                  // NORACE (warned)
        pthread_mutex_unlock(&lock);
    }
    while (pthread_mutex_trylock(&lock))
        ;
    spun++;                         // NORACE
    pthread_mutex_unlock(&lock);
    pthread_mutex_trylock(&lock);
    ignored++;                      // RACE!
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return taken;                   // NORACE
}
