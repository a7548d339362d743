/* A function that is not instrumented ends with a jump to one that the runtime stands in for. The
 * event has the place of the call of the first, and whether there is one is decided in there. */

#include <stdlib.h>

struct box {
    int full;
    int *contents;
};

static struct box box;
static int sum;

__attribute__((noinline, no_sanitize("thread"))) static void empty_now(struct box *given) {
    if (given->full & 1)
        free(given->contents);
}

__attribute__((noinline, no_sanitize("thread"))) static void empty_later(struct box *given) {
    if (given->full & 2)
        free(given->contents);
}

static void (*const ways[2])(struct box *) = {empty_now, empty_later};

__attribute__((noinline)) static void use(int full, int way) {
    box.contents = malloc(8);
    box.full = full + (sum & 1);
    ways[way & 1](&box);
    sum++;
    box.contents = malloc(8);
    empty_now(&box);
    sum++;
}

int main(void) {
    for (int round = 0; round < 6; round++)
        use(round == 2 ? 0 : 2, round);
    return 0;
}
