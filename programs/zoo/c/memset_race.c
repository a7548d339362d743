// A memset over a whole array meets a read of its last byte.
#include <pthread.h>
#include <string.h>

enum { SIZE = 64 };

char shared[SIZE];
size_t size = SIZE;
char seen;

static void *clear(void *arg) {
    (void)arg;
    memset(shared, 0, size); // RACE: shared with line 20
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, clear, NULL);
    seen = shared[SIZE - 1]; // RACE: shared with line 13
    pthread_join(thread, NULL);
    return 0;
}
