// Two locks in both orders: with and without a lock around, in one thread only, one thread after the other.
#include <pthread.h>

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t d = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t e = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t f = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t g = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t h = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *unused) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);         // DEADLOCK!
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_mutex_lock(&guard);
    pthread_mutex_lock(&c);
    pthread_mutex_lock(&d);         // NODEADLOCK
    pthread_mutex_unlock(&d);
    pthread_mutex_unlock(&c);
    pthread_mutex_unlock(&guard);
    pthread_mutex_lock(&g);
    if (pthread_mutex_trylock(&h) == 0) // NODEADLOCK
        pthread_mutex_unlock(&h);
    pthread_mutex_unlock(&g);
    return unused;
}

static void *second(void *unused) {
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);         // DEADLOCK!
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    pthread_mutex_lock(&guard);
    pthread_mutex_lock(&d);
    pthread_mutex_lock(&c);         // NODEADLOCK
    pthread_mutex_unlock(&c);
    pthread_mutex_unlock(&d);
    pthread_mutex_unlock(&guard);
    pthread_mutex_lock(&h);
    if (pthread_mutex_trylock(&g) == 0) // NODEADLOCK
        pthread_mutex_unlock(&g);
    pthread_mutex_unlock(&h);
    return unused;
}

static void *later(void *unused) {
    pthread_mutex_lock(&f);
    pthread_mutex_lock(&e);         // NODEADLOCK
    pthread_mutex_unlock(&e);
    pthread_mutex_unlock(&f);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    pthread_mutex_lock(&e);
    pthread_mutex_lock(&f);         // NODEADLOCK
    pthread_mutex_unlock(&f);
    pthread_mutex_unlock(&e);
    pthread_mutex_lock(&f);
    pthread_mutex_lock(&e);         // NODEADLOCK
    pthread_mutex_unlock(&e);
    pthread_mutex_unlock(&f);
    pthread_create(&threads[2], 0, later, 0);
    pthread_join(threads[2], 0);
    return 0;
}
