/* Values that reach a branch or an address through the stack: through an array that is indexed,
 * a pointer to a local variable, a copy of a structure, a union, and a variable of another size. */

#include <string.h>

struct pair {
    int first, second;
};

static int shared[16], index_of, sink;
static struct pair pair = {3, 9};

__attribute__((noinline)) static int *same(int *p) {
    return p;
}

__attribute__((noinline)) static void indexed(int at) {
    int slots[4] = {1, 2, 3, 4};
    slots[at & 3] = shared[at & 15];
    if (slots[1] > 5)
        sink++;
    shared[slots[2] & 15]++;
}

__attribute__((noinline)) static void pointed(int at) {
    int local = at, other = 0;
    int *p = same(at & 1 ? &local : &other);
    *p = shared[at & 15];
    if (local > 4)
        sink += 2;
    if (other > 4)
        sink += 3;
    shared[local & 15] = at;
}

__attribute__((noinline)) static void copied(int at) {
    struct pair mine = pair, again;
    memcpy(&again, &mine, sizeof again);
    if (again.second > at)
        shared[again.first & 15]++;
}

__attribute__((noinline)) static void widened(int at) {
    union {
        int whole;
        unsigned char bytes[4];
    } both;
    both.whole = shared[at & 15];
    both.bytes[1] = (unsigned char)index_of;
    if (both.whole & 0x100)
        sink++;
    signed char narrow = (signed char)shared[(at + 1) & 15];
    long wide = narrow;
    shared[wide & 15]++;
}

int main(void) {
    for (int i = 0; i < 16; i++)
        shared[i] = i * 3 % 8;
    for (int round = 0; round < 8; round++) {
        index_of = round;
        indexed(round);
        pointed(round);
        copied(round);
        widened(round);
    }
    return 0;
}
