// A buffer handed over with a condition variable. The producer signals, lets go of the lock and only then
// wipes its notes in the buffer; the consumer, woken in proper order, reads it at the same time. The
// producer then goes through the lock once more, for the count of wiped buffers, and so does the consumer
// after it has read.
//
#include <pthread.h>
#include <stdbool.h>

bool filled;
int buffer, seen, wiped;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *producer(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    buffer = 7; // NORACE: buffer
    filled = true; // NORACE: filled
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    buffer = 0; // RACE: buffer with line 35
    pthread_mutex_lock(&lock);
    wiped++; // NORACE: wiped
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    pthread_mutex_lock(&lock);
    while (!filled) // NORACE: filled
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    seen = buffer; // RACE: buffer with line 21
    pthread_mutex_lock(&lock);
    seen += wiped; // NORACE: wiped
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
