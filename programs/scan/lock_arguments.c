// Locks that come as arguments, through one call and through several.
#include <pthread.h>

pthread_mutex_t red = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t blue = PTHREAD_MUTEX_INITIALIZER;
int apple, sky, sea, deep;

static void take(pthread_mutex_t *lock) { pthread_mutex_lock(lock); }
static void give(pthread_mutex_t *lock) { pthread_mutex_unlock(lock); }
static void take_far(pthread_mutex_t *lock) { take(lock); }
static void give_far(pthread_mutex_t *lock) { give(lock); }

static void add(pthread_mutex_t *lock, int *to) {
    pthread_mutex_lock(lock);
    ++*to;                          // RACE!
    pthread_mutex_unlock(lock);
}

static void add_right(pthread_mutex_t *lock, int *to) {
    pthread_mutex_lock(lock);
    ++*to;                          // NORACE
    pthread_mutex_unlock(lock);
}

static void *worker(void *unused) {
    add(&red, &apple);
    add_right(&blue, &sky);
    take(&red);
    sea++;                          // NORACE
    give(&red);
    take_far(&blue);
    deep++;                         // RACE!
    give_far(&blue);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    add(&blue, &apple);
    add_right(&blue, &sky);
    take_far(&red);
    sea--;                          // NORACE
    give_far(&red);
    take(&red);
    deep--;                         // RACE!
    give(&red);
    pthread_join(thread, 0);
    return apple + sky;             // NORACE
}
