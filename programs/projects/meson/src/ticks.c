// volatile is not atomic.
#include "ticks.h"

static volatile unsigned count;

void tick(void) {
    count++; // RACE: count with line 11
}

unsigned ticks(void) {
    return count; // RACE: count with line 7
}
