/* The C library calls back into the program: events of the callback stand between two events of
 * the caller, and the library decides how often. */

#include <stdlib.h>

static int compared, values[12];

static int compare(const void *one, const void *other) {
    int left = *(const int *)one, right = *(const int *)other;
    compared++;
    if (left == right)
        return 0;
    return left < right ? -1 : 1;
}

__attribute__((noinline)) static void sort(int count) {
    compared = 0;
    qsort(values, count, sizeof values[0], compare);
    values[0] = compared;
}

int main(void) {
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < 12; i++)
            values[i] = (i * 5 + round * 7) % 11;
        sort(round * 2);
    }
    return 0;
}
