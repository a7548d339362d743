/* A function that is not instrumented ends with a jump to one that the runtime stands in for. The
 * event has the place of the call of the first, and whether there is one is decided in there. */

#include <stdlib.h>

#ifdef __clang__
#define OPAQUE __attribute__((noinline, disable_sanitizer_instrumentation))
#else
#define OPAQUE __attribute__((noinline, no_sanitize("thread")))
#endif

struct box {
    int full;
    int *contents;
};

static struct box box;
static int sum;

OPAQUE static void empty_now(struct box *given) {
    if (given->full & 1)
        free(given->contents);
}

OPAQUE static void empty_later(struct box *given) {
    if (given->full & 2)
        free(given->contents);
}

__attribute__((noinline)) static void use(int full) {
    void (*empty)(struct box *) = empty_later;
    box.contents = malloc(8);
    box.full = full + (sum & 3);
    empty_now(&box);
    sum++;
    box.contents = malloc(8);
    __asm__("" : "+r"(empty)); /* a call through a register, though it is known where to */
    empty(&box);
    sum++;
}

int main(void) {
    for (int round = 0; round < 6; round++)
        use(round);
    return 0;
}
