// The threads that are known, by their handles.
#include "ctrace.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct trc_thread *buckets[TRC_BUCKETS];
static int thread_count;
static int default_level;

static unsigned bucket_of(pthread_t self) {
    unsigned long number = (unsigned long)self;
    return (unsigned)((number >> 12) ^ (number >> 4)) % TRC_BUCKETS;
}

// Before there is another thread.
void trc_threads_start(void) {
    for (unsigned i = 0; i < TRC_BUCKETS; i++)
        buckets[i] = NULL;          // NORACE
    thread_count = 0;               // NORACE
    default_level = TRC_DEBUG;      // NORACE
}

struct trc_thread *trc_add_thread(const char *name) {
    struct trc_thread *thread = calloc(1, sizeof *thread);
    if (thread == NULL)
        return NULL;
    thread->self = pthread_self();  // NORACE
    strncpy(thread->name, name, TRC_NAME - 1);
    thread->level = default_level;  // NORACE
    thread->depth = 0;
    trc_ring_start(&thread->ring, 0);
    unsigned bucket = bucket_of(thread->self);
    pthread_mutex_lock(&table_lock);
    thread->next = buckets[bucket]; // NORACE
    buckets[bucket] = thread;       // NORACE
    thread_count++;                 // NORACE
    pthread_mutex_unlock(&table_lock);
    return thread;
}

struct trc_thread *trc_self(void) {
    pthread_t self = pthread_self();
    struct trc_thread *found = NULL;
    pthread_mutex_lock(&table_lock);
    for (struct trc_thread *at = buckets[bucket_of(self)]; at != NULL; at = at->next) { // NORACE
        if (pthread_equal(at->self, self)) {
            found = at;
            break;
        }
    }
    pthread_mutex_unlock(&table_lock);
    return found;
}

void trc_remove_thread(void) {
    pthread_t self = pthread_self();
    struct trc_thread *gone = NULL;
    pthread_mutex_lock(&table_lock);
    struct trc_thread **at = &buckets[bucket_of(self)];
    while (*at != NULL && !pthread_equal((*at)->self, self))
        at = &(*at)->next;
    gone = *at;
    if (gone != NULL) {
        *at = gone->next;
        thread_count--;             // NORACE
    }
    pthread_mutex_unlock(&table_lock);
    if (gone != NULL) {
        trc_ring_end(&gone->ring);
        free(gone);
    }
}

void trc_each_thread(void (*visit)(struct trc_thread *, void *), void *data) {
    pthread_mutex_lock(&table_lock);
    for (unsigned i = 0; i < TRC_BUCKETS; i++) {
        for (struct trc_thread *at = buckets[i]; at != NULL; at = at->next) // NORACE
            visit(at, data);
    }
    pthread_mutex_unlock(&table_lock);
}

int trc_threads(void) {
    pthread_mutex_lock(&table_lock);
    int count = thread_count;       // NORACE
    pthread_mutex_unlock(&table_lock);
    return count;
}
