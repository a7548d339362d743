// A counter of lookups is not worth a lock to its author: a lost count does no harm. The table beside it
// is under a read-write lock, which usually orders the lookups as well.
//
#include <pthread.h>

int table = 1, lookups, seen[2];
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void look_up(int mine) {
    lookups++; // RACE: lookups with line 10
    pthread_rwlock_rdlock(&lock);
    seen[mine] = table; // NORACE: table
    pthread_rwlock_unlock(&lock);
}

static void *user(void *arg) {
    look_up(1);
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
    pthread_t thread;
    pthread_create(&thread, NULL, user, NULL);
    dawdle();
    pthread_rwlock_wrlock(&lock);
    table = 2; // NORACE: table
    pthread_rwlock_unlock(&lock);
    look_up(0);
    pthread_join(thread, NULL);
    return 0;
}
