// A cache that whoever finds it empty fills: looked at under the read lock, filled under the write lock
// after a second look. The value is read under the read lock, or under the write lock.
//
// NORACE
// EXPECT-STDOUT: 42 42
#include <pthread.h>
#include <stdio.h>

int cache, seen[2];
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *reader(void *arg) {
    int mine = arg != NULL;
    pthread_rwlock_rdlock(&lock);
    int value = cache; // NORACE: cache
    pthread_rwlock_unlock(&lock);
    if (value == 0) {
        pthread_rwlock_wrlock(&lock);
        if (cache == 0) // NORACE: cache
            cache = 42; // NORACE: cache
        value = cache; // NORACE: cache
        pthread_rwlock_unlock(&lock);
    }
    seen[mine] = value;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    reader(&thread);
    pthread_join(thread, NULL);
    printf("%d %d\n", seen[0], seen[1]);
    return 0;
}
