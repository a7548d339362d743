// How messages look.
#include "ctrace.h"

#include <string.h>
#include <time.h>

// The first moment that anybody asked for. Whoever comes second may see half of it.
static unsigned long epoch;

static const char *const level_names[] = {"always", "error", "warning", "info", "debug"};

unsigned long trc_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    unsigned long micros = (unsigned long)now.tv_sec * 1000000ul + (unsigned long)now.tv_nsec / 1000ul;
    if (epoch == 0)                 // RACE!
        epoch = micros;             // RACE!
    return micros - epoch;          // RACE!
}

const char *trc_level_name(int level) {
    if (level < TRC_ALWAYS || level > TRC_DEBUG)
        return "?";
    return level_names[level];      // NORACE
}

void trc_format(char *text, size_t size, const char *format, va_list arguments) {
    int length = vsnprintf(text, size, format, arguments);
    if (length < 0)
        text[0] = 0;
    // One line for each message.
    for (char *at = text; *at != 0; at++) {
        if (*at == '\n')
            *at = ' ';
    }
}

int trc_line(char *line, size_t size, const struct trc_message *message, const char *thread) {
    char unit[TRC_NAME];
    trc_unit_name(message->unit, unit, sizeof unit);
    int length = snprintf(line, size, "%8lu %10lu %-8s %-8s %s: %s\n", message->number, message->at, thread, unit,
                          trc_level_name(message->level), message->text);
    if (length < 0)
        return 0;
    return (size_t)length < size ? length : (int)size - 1;
}
