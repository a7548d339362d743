// A ring under a lock, whose length is read without it.
#include "queue.h"

#include <pthread.h>

enum { ROOM = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int jobs[ROOM];
static int first;
static int length;

int queue_put(int job) {
    pthread_mutex_lock(&lock);
    int fits = length < ROOM;
    if (fits) {
        jobs[(first + length) % ROOM] = job;
        length++; // RACE: length with line 37
    }
    pthread_mutex_unlock(&lock);
    return fits;
}

int queue_take(void) {
    pthread_mutex_lock(&lock);
    int job = -1;
    if (length > 0) {
        job = jobs[first];
        first = (first + 1) % ROOM;
        length--;
    }
    pthread_mutex_unlock(&lock);
    return job;
}

int queue_length(void) {
    return length; // RACE: length with line 18
}
