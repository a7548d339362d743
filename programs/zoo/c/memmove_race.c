// A memmove shifts bytes 0 to 31 up by one: it reads 0 to 31 and writes 1 to 32. A write to byte 0 meets
// its read, a read of byte 32 meets its write; byte 33 lies outside.
#include <pthread.h>
#include <string.h>

enum { MOVED = 32 };

char shared[64];
size_t moved = MOVED;
char seen;

static void *shift(void *arg) {
    (void)arg;
    memmove(shared + 1, shared, moved); // RACE: shared with line 21, shared with line 22
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, shift, NULL);
    shared[0] = 'x'; // RACE: shared with line 14
    seen = shared[MOVED]; // RACE: shared with line 14
    shared[MOVED + 1] = 'y'; // NORACE: shared
    pthread_join(thread, NULL);
    return 0;
}
