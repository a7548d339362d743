// Main waits for a condition while it holds a second, outer mutex that the signaller needs. The wait
// gives back the inner mutex only. Main waits only for a signaller that has announced itself, and
// that one usually has the outer mutex, and is through with it, before main comes.
//
// NORACE
// EXPECT-STDOUT: ready 1
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

atomic_bool announced;
bool ready;
pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *signaller(void *arg) {
    (void)arg;
    atomic_store(&announced, true);
    pthread_mutex_lock(&outer); // DEADLOCK: waits for outer, with line 51
    pthread_mutex_lock(&inner);
    ready = true; // NORACE: ready
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&inner);
    pthread_mutex_unlock(&outer);
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
    pthread_t thread;
    pthread_create(&thread, NULL, signaller, NULL);
    dawdle();
    if (atomic_load(&announced)) {
        pthread_mutex_lock(&outer);
        pthread_mutex_lock(&inner);
        while (!ready) // NORACE: ready
            pthread_cond_wait(&changed, &inner); // DEADLOCK: waits for changed holding outer, with line 21
        pthread_mutex_unlock(&inner);
        pthread_mutex_unlock(&outer);
    }
    pthread_join(thread, NULL);
    printf("ready %d\n", ready);
    return 0;
}
