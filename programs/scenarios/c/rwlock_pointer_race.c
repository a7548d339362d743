// A pointer is fetched under the read lock and followed when the lock is gone. The writer puts another
// block in its place under the write lock and frees the old one. Main usually comes first, and then
// the locks order its use before the release.
//
#include <pthread.h>
#include <stdlib.h>

int *current, seen;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *replace(void *arg) {
    int *fresh = calloc(1, sizeof *fresh);
    pthread_rwlock_wrlock(&lock);
    int *old = current; // NORACE: current
    current = fresh; // NORACE: current
    pthread_rwlock_unlock(&lock);
    free(old); // RACE: *block with line 25
    return arg;
}

static void *use(void *arg) {
    pthread_rwlock_rdlock(&lock);
    int *block = current; // NORACE: current
    pthread_rwlock_unlock(&lock);
    seen = *block; // RACE: *block with line 17
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_unlock(&lock);
    return arg;
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
    pthread_t user, replacer;
    current = calloc(1, sizeof *current);
    pthread_create(&user, NULL, use, NULL);
    dawdle();
    pthread_create(&replacer, NULL, replace, NULL);
    pthread_join(user, NULL);
    pthread_join(replacer, NULL);
    free(current);
    return 0;
}
