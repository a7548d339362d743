// The chain of locks of lock_chain_race.c, but each link says how far it has come, and the next one goes
// on only if it knows: main reads the value only when it has seen stage 2, which the middle sets only
// when it has seen stage 1, which the writer sets when the value is there. No lock is common to the
// two accesses.
//
// NORACE
#include <pthread.h>

int value, seen, stage_one, stage_two;
pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;

static void *writer(void *arg) {
    (void)arg;
    value = 1; // NORACE: value
    pthread_mutex_lock(&first);
    stage_one = 1; // NORACE: stage_one
    pthread_mutex_unlock(&first);
    return NULL;
}

static void *middle(void *arg) {
    (void)arg;
    pthread_mutex_lock(&first);
    int done = stage_one; // NORACE: stage_one
    pthread_mutex_unlock(&first);
    if (done == 1) {
        pthread_mutex_lock(&second);
        stage_two = 1; // NORACE: stage_two
        pthread_mutex_unlock(&second);
    }
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
    pthread_create(&threads[0], NULL, writer, NULL);
    dawdle();
    pthread_create(&threads[1], NULL, middle, NULL);
    dawdle();
    pthread_mutex_lock(&second);
    int done = stage_two; // NORACE: stage_two
    pthread_mutex_unlock(&second);
    if (done == 1)
        seen = value; // NORACE: value
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
