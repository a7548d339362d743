// From "hybrid", figure 2: objects handed from thread to thread through a pool.
//
// Each thread works on its object without a lock, which a lockset detector calls a race. But an
// object belongs to one thread at a time: ownership travels with the pointer through the pool.
//
// Verdict: the second thread gets the object only from take(), after the first one's give(): the
// pool's mutex and condition order the two uses in every interleaving.
// NORACE
// EXPECT-STDOUT: size 20
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct big {
    int size;
    struct big *next;
};

struct big *top;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t filled = PTHREAD_COND_INITIALIZER;

static void give(struct big *object) {
    pthread_mutex_lock(&lock);
    object->next = top;
    top = object;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
}

static struct big *take(void) {
    pthread_mutex_lock(&lock);
    while (top == NULL)
        pthread_cond_wait(&filled, &lock);
    struct big *object = top;
    top = object->next;
    pthread_mutex_unlock(&lock);
    return object;
}

static void *first_user(void *arg) {
    (void)arg;
    struct big *object = malloc(sizeof *object);
    object->size = 10; // NORACE: object->size
    give(object);
    return NULL;
}

static void *second_user(void *arg) {
    (void)arg;
    struct big *object = take();
    object->size = 20; // NORACE: object->size
    give(object);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&second, NULL, second_user, NULL);
    pthread_create(&first, NULL, first_user, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("size %d\n", top->size);
    free(top);
    return 0;
}
