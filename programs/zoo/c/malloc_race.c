// One thread frees a block that the other still reads.
#include <pthread.h>
#include <stdlib.h>

int *block;
int seen;

static void *owner(void *arg) {
    (void)arg;
    free(block); // RACE: *block with line 19
    return NULL;
}

int main(void) {
    pthread_t thread;
    block = malloc(sizeof *block);
    *block = 1; // NORACE: *block
    pthread_create(&thread, NULL, owner, NULL);
    seen = *block; // RACE: *block with line 10
    pthread_join(thread, NULL);
    return 0;
}
