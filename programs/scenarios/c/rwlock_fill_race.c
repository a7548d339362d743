// Every reader refreshes a cache and then reads it, under the read lock, which lets all of them in at once.
// Main starts the second reader when it has had the write lock, so in most runs the first is through and
// the write lock orders the two.
//
#include <pthread.h>

int cache, seen[2];
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *reader(void *arg) {
    int mine = arg != NULL;
    pthread_rwlock_rdlock(&lock);
    cache = 42; // RACE: cache with line 13, cache with line 14
    seen[mine] = cache; // RACE: cache with line 13
    pthread_rwlock_unlock(&lock);
    return NULL;
}

static void *nothing(void *arg) {
    return arg;
}

// Meanwhile the other thread usually gets through, but nothing makes it.
static void dawdle(void) {
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, nothing, NULL);
        pthread_join(thread, NULL);
    }
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, reader, NULL);
    dawdle();
    pthread_rwlock_wrlock(&lock);
    pthread_rwlock_unlock(&lock);
    pthread_create(&threads[1], NULL, reader, threads);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
