// Five modules with a lock each; each calls the next one with its own lock held, from a thread of its own. The
// cycle goes through five functions and needs all five at once.
//
// NORACE
#include <pthread.h>

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER, d = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t e = PTHREAD_MUTEX_INITIALIZER;
int calls[5];

#define MODULE(name, own, next, number)          \
    static void *name(void *arg) {               \
        pthread_mutex_lock(&own);                \
        pthread_mutex_lock(&next);               \
        calls[number]++;                         \
        pthread_mutex_unlock(&next);             \
        pthread_mutex_unlock(&own);              \
        return arg;                              \
    }

MODULE(network, a, b, 0) // DEADLOCK: waits for b holding a, with lines 23, 24, 25, 26
MODULE(session, b, c, 1) // DEADLOCK: waits for c holding b, with lines 22, 24, 25, 26
MODULE(storage, c, d, 2) // DEADLOCK: waits for d holding c, with lines 22, 23, 25, 26
MODULE(journal, d, e, 3) // DEADLOCK: waits for e holding d, with lines 22, 23, 24, 26
MODULE(monitor, e, a, 4) // DEADLOCK: waits for a holding e, with lines 22, 23, 24, 25

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
    void *(*modules[5])(void *) = {network, session, storage, journal, monitor};
    pthread_t threads[5];
    for (int i = 0; i < 5; i++) {
        pthread_create(&threads[i], NULL, modules[i], NULL);
        dawdle();
    }
    for (int i = 0; i < 5; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
