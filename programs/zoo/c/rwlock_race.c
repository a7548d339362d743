// Readers count their visits under the read lock, which they share: two of them can be at the counter
// at once. The writer's reset, under the write lock, is safe.
#include <pthread.h>

int visits;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *reader(void *arg) {
    (void)arg;
    pthread_rwlock_rdlock(&lock);
    visits++; // RACE: visits with line 11
    pthread_rwlock_unlock(&lock);
    return NULL;
}

static void *writer(void *arg) {
    (void)arg;
    pthread_rwlock_wrlock(&lock);
    visits = 0; // NORACE: visits
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_create(&threads[2], NULL, writer, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
