// A table is guarded by one lock while it is loaded and by another while it is used. Between the two
// stages each thread only notes in a log, under the log's lock, that it has changed over: in most runs that
// orders the last loading access before the first use, but nobody waits for anybody.
//
#include <pthread.h>

int table, log_lines;
pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t using = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static void note(void) {
    pthread_mutex_lock(&log_lock);
    log_lines++; // NORACE: log_lines
    pthread_mutex_unlock(&log_lock);
}

static void *loader(void *arg) {
    (void)arg;
    pthread_mutex_lock(&loading);
    table = 1; // RACE: table with line 46
    pthread_mutex_unlock(&loading);
    note();
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
    pthread_create(&thread, NULL, loader, NULL);
    dawdle();
    note();
    pthread_mutex_lock(&using);
    table++; // RACE: table with line 21
    pthread_mutex_unlock(&using);
    pthread_join(thread, NULL);
    return 0;
}
