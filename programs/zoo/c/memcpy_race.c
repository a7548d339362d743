// One thread copies into the array while the other copies out of it; the calls are the accesses.
#include <pthread.h>
#include <string.h>

enum { SIZE = 64 };

char shared[SIZE], source[SIZE], target[SIZE];
size_t size = SIZE;

static void *in(void *arg) {
    (void)arg;
    memcpy(shared, source, size); // RACE: shared with line 19
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, in, NULL);
    memcpy(target, shared, size); // RACE: shared with line 12
    pthread_join(thread, NULL);
    return 0;
}
