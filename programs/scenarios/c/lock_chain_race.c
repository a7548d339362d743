// A value is written before a first lock and read behind a second one. A thread in the middle took
// both locks one after the other, and in most runs that orders the ends: first thread, middle, main.
// Nothing makes the three come in this order, so the write and the read can meet. (Stock TSan sees
// nothing unless they do.)
//
#include <pthread.h>

int value, seen, in_first, in_second;
pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;

static void *writer(void *arg) {
    (void)arg;
    value = 1; // RACE: value with line 54
    pthread_mutex_lock(&first);
    in_first++; // NORACE: in_first
    pthread_mutex_unlock(&first);
    return NULL;
}

static void *middle(void *arg) {
    (void)arg;
    pthread_mutex_lock(&first);
    in_first++; // NORACE: in_first
    pthread_mutex_unlock(&first);
    pthread_mutex_lock(&second);
    in_second++; // NORACE: in_second
    pthread_mutex_unlock(&second);
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
    in_second++; // NORACE: in_second
    pthread_mutex_unlock(&second);
    seen = value; // RACE: value with line 14
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
