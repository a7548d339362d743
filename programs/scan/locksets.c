// What is held where ways meet: conditional locking, early returns, error paths, loops.
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int sometimes, always, early, cleaned, looped, unlocked_in_loop, switched, twice;

static int conditional(int n) {
    if (n)
        pthread_mutex_lock(&lock);
    sometimes++;                    // RACE!
    if (n)
        pthread_mutex_unlock(&lock);
    if (n)
        pthread_mutex_lock(&lock);
    else
        pthread_mutex_lock(&lock);
    always++;                       // NORACE
    pthread_mutex_unlock(&lock);
    return n;
}

static int returns_early(int n) {
    pthread_mutex_lock(&lock);
    if (n < 0) {
        early = 0;                  // NORACE
        pthread_mutex_unlock(&lock);
        return -1;
    }
    early = n;                      // NORACE
    pthread_mutex_unlock(&lock);
    return 0;
}

static int error_path(int n) {
    int result = -1;
    pthread_mutex_lock(&lock);
    if (n == 1)
        goto out;
    cleaned++;                      // NORACE
    if (n == 2)
        goto out;
    result = cleaned;               // NORACE
out:
    cleaned--;                      // NORACE
    pthread_mutex_unlock(&lock);
    return result;
}

static void loops(int n) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n; i++) {
        looped += i;                // NORACE
        if (looped > 9)             // NORACE
            break;
    }
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n; i++) {
        unlocked_in_loop++;         // RACE!
        pthread_mutex_unlock(&lock);
    }
}

static void switches(int n) {
    switch (n) {
    case 0: pthread_mutex_lock(&lock); break;
    case 1: pthread_mutex_lock(&lock); break;
    default: pthread_mutex_lock(&lock);
    }
    switched++;                     // NORACE
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    twice++;                        // RACE!
    pthread_mutex_unlock(&lock);
    twice++;                        // RACE!
}

static void *worker(void *argument) {
    int n = (int)(long)argument;
    conditional(n);
    returns_early(n);
    error_path(n);
    switches(n);
    loops(n);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, (void *)1);
    pthread_create(&b, 0, worker, (void *)2);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
