// What programs call to be traced.
#include "ctrace.h"

#include <string.h>

// Whether anything is traced. Set by one thread, asked by all, without a lock.
static int is_on;

static pthread_mutex_t number_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long next_number;

// How many messages nobody could keep.
static unsigned long refused;

int trc_start(const char *path) {
    trc_threads_start();
    if (!trc_collector_start(path))
        return 0;
    is_on = 1;                      // NORACE
    return 1;
}

void trc_stop(void) {
    is_on = 0;                      // NORACE
    trc_collector_stop();
}

void trc_on(void) {
    is_on = 1;                      // RACE!
}

void trc_off(void) {
    is_on = 0;                      // RACE!
}

static unsigned long number_next(void) {
    pthread_mutex_lock(&number_lock);
    unsigned long number = next_number++; // NORACE
    pthread_mutex_unlock(&number_lock);
    return number;
}

unsigned long trc_messages(void) {
    pthread_mutex_lock(&number_lock);
    unsigned long number = next_number; // NORACE
    pthread_mutex_unlock(&number_lock);
    return number;
}

static void tell(struct trc_thread *thread, int unit, int level, const char *format, va_list arguments) {
    struct trc_message message;
    message.number = number_next();
    message.at = trc_now();
    message.unit = unit;
    message.level = level;
    trc_format(message.text, sizeof message.text, format, arguments);
    if (!trc_ring_put(&thread->ring, &message))
        refused++;                  // RACE!
    trc_collector_wake();
}

void trc_print(int unit, int level, const char *format, ...) {
    if (!is_on || !trc_is_wanted(unit, level)) // RACE!
        return;
    struct trc_thread *thread = trc_self();
    if (thread == NULL)
        thread = trc_add_thread("unnamed");
    if (thread == NULL)
        return;
    va_list arguments;
    va_start(arguments, format);
    tell(thread, unit, level, format, arguments);
    va_end(arguments);
}

void trc_enter(int unit, const char *function) {
    struct trc_thread *thread = trc_self();
    if (thread != NULL && thread->depth < TRC_DEPTH)
        thread->stack[thread->depth++] = function; // NORACE (warned)
    trc_print(unit, TRC_DEBUG, "into %s", function);
}

void trc_leave(int unit, const char *function) {
    trc_print(unit, TRC_DEBUG, "out of %s", function);
    struct trc_thread *thread = trc_self();
    if (thread != NULL && thread->depth > 0)
        thread->depth--;            // NORACE (warned)
}
