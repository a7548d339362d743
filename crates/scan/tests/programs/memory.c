// Copies of structures, and variables that live in memory because somebody takes their address.
#include <string.h>

struct large {
    long numbers[8];
};

void use(void *);

struct large copied(struct large *from)
{
    struct large local = *from;
    return local;
}

void cleared(struct large *p) { memset(p, 0, sizeof *p); }

int escapes(void)
{
    int local = 1, other = 2;
    use(&local);
    return local + other;
}

long by_value(struct large l) { return l.numbers[1]; }

struct large shared;

long passed(void) { return by_value(shared); }
