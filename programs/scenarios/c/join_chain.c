// Each thread starts the next one and joins it before it adds its own share: three threads and main change one
// variable without any lock, one after the other.
//
// NORACE
// EXPECT-STDOUT: total 4
#include <pthread.h>
#include <stdio.h>

int total;

static void *add(void *arg) {
    int *left = arg;
    if (*left > 0) {
        pthread_t next;
        int fewer = *left - 1;
        pthread_create(&next, NULL, add, &fewer);
        pthread_join(next, NULL);
    }
    total++; // NORACE: total
    return NULL;
}

int main(void) {
    int left = 3;
    add(&left);
    printf("total %d\n", total);
    return 0;
}
