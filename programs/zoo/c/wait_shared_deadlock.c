// Two threads take two mutexes of their own in opposite orders. Beside them are a semaphore and a mutex that
// other processes may use: nobody there can end this deadlock.
//
// NORACE
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>

struct shared {
    sem_t raised;
    pthread_mutex_t lock;
};

pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

static void *forwards(void *arg) {
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second); // DEADLOCK: waits for second holding first, with line 26
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
    return arg;
}

static void *backwards(void *arg) {
    pthread_mutex_lock(&second);
    pthread_mutex_lock(&first); // DEADLOCK: waits for first holding second, with line 18
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    pthread_mutexattr_t attributes;
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    sem_init(&shared->raised, 1, 1);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->lock, &attributes);
    sem_wait(&shared->raised);
    pthread_mutex_lock(&shared->lock);
    pthread_mutex_unlock(&shared->lock);
    pthread_create(&threads[0], NULL, forwards, NULL);
    pthread_create(&threads[1], NULL, backwards, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
