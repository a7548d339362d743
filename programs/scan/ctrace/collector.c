// The collector: a thread that takes messages from all rings and writes them down.
#include "ctrace.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_t collector;
static pthread_mutex_t wake_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static int has_work;
static int is_ending;
static int is_running;

static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *file;
static unsigned long written;
static unsigned long byte_count;

struct round {
    unsigned long taken;
    unsigned long lost;
};

static void write_line(const struct trc_message *message, const char *thread) {
    char line[TRC_TEXT + 128];
    int length = trc_line(line, sizeof line, message, thread);
    pthread_mutex_lock(&file_lock);
    if (file != NULL) {             // NORACE
        fwrite(line, 1, (size_t)length, file);
        byte_count += (unsigned long)length; // NORACE
    }
    written++;                      // RACE!
    pthread_mutex_unlock(&file_lock);
}

static void take_all(struct trc_thread *thread, void *data) {
    struct round *round = data;
    struct trc_message message;
    while (trc_ring_take(&thread->ring, &message)) {
        write_line(&message, thread->name);
        round->taken++;             // NORACE
    }
    round->lost += trc_ring_lost(&thread->ring); // NORACE
}

static int await_work(void) {
    int goes_on;
    pthread_mutex_lock(&wake_lock);
    while (!has_work && !is_ending) // NORACE
        pthread_cond_wait(&wake, &wake_lock);
    has_work = 0;                   // NORACE
    goes_on = !is_ending;           // NORACE
    pthread_mutex_unlock(&wake_lock);
    return goes_on;
}

static void *collect(void *unused) {
    struct round round;
    int goes_on;
    do {
        goes_on = await_work();
        memset(&round, 0, sizeof round);
        trc_each_thread(take_all, &round);
    } while (goes_on);
    pthread_mutex_lock(&file_lock);
    if (file != NULL && round.lost > 0) // NORACE
        fprintf(file, "%lu messages were lost\n", round.lost);
    pthread_mutex_unlock(&file_lock);
    return unused;
}

int trc_collector_start(const char *path) {
    FILE *opened = fopen(path, "w");
    if (opened == NULL)
        return 0;
    pthread_mutex_lock(&file_lock);
    file = opened;                  // NORACE
    pthread_mutex_unlock(&file_lock);
    is_ending = 0;                  // NORACE
    if (pthread_create(&collector, NULL, collect, NULL) != 0)
        return 0;
    is_running = 1;                 // NORACE
    return 1;
}

void trc_collector_wake(void) {
    if (!is_running)                // NORACE
        return;
    pthread_mutex_lock(&wake_lock);
    has_work = 1;                   // NORACE
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&wake_lock);
}

void trc_collector_stop(void) {
    pthread_mutex_lock(&wake_lock);
    is_ending = 1;                  // NORACE
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&wake_lock);
    pthread_join(collector, NULL);
    is_running = 0;                 // NORACE
    pthread_mutex_lock(&file_lock);
    if (file != NULL)               // NORACE
        fclose(file);
    file = NULL;                    // NORACE
    pthread_mutex_unlock(&file_lock);
}

// Goes on in another file.
void trc_rotate(const char *path) {
    FILE *next = fopen(path, "w");
    if (next == NULL)
        return;
    pthread_mutex_lock(&file_lock);
    FILE *before = file;            // NORACE
    file = next;                    // NORACE
    byte_count = 0;                 // NORACE
    pthread_mutex_unlock(&file_lock);
    if (before != NULL)
        fclose(before);
}

// For people who are curious: a figure that is nearly right will do.
unsigned long trc_written(void) {
    return written;                 // RACE!
}

unsigned long trc_bytes(void) {
    pthread_mutex_lock(&file_lock);
    unsigned long bytes = byte_count; // NORACE
    pthread_mutex_unlock(&file_lock);
    return bytes;
}
