// The consumer waits until the producer has started, not until it has filled the buffer. In most runs the
// producer is long through, and then even the lock orders its write before the read.
//
#include <pthread.h>
#include <stdbool.h>

bool started, filled;
int buffer, seen;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void set(bool *flag) {
    pthread_mutex_lock(&lock);
    *flag = true; // NORACE: started, filled
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void *producer(void *arg) {
    set(&started);
    buffer = 7; // RACE: buffer with line 47
    set(&filled);
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
    pthread_create(&thread, NULL, producer, NULL);
    dawdle();
    pthread_mutex_lock(&lock);
    while (!started) // NORACE: started
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    seen = buffer; // RACE: buffer with line 21
    pthread_join(thread, NULL);
    return 0;
}
