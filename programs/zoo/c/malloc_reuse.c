// Four threads allocate, fill and free blocks of the same size. The allocator hands the same addresses
// to different threads one after the other, but every block has one owner for its whole life.
//
// NORACE
// EXPECT-STDOUT: sum 180
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 10 };

static void *user(void *arg) {
    int *sum = arg;
    for (int i = 0; i < ROUNDS; i++) {
        int *block = malloc(sizeof *block);
        *block = i; // NORACE: *block
        *sum += *block; // NORACE: *block
        free(block); // NORACE: *block
    }
    return NULL;
}

int main(void) {
    int total = 0;
    for (int pair = 0; pair < THREADS / 2; pair++) {
        pthread_t first, second;
        int sums[2] = {0};
        pthread_create(&first, NULL, user, &sums[0]);
        pthread_create(&second, NULL, user, &sums[1]);
        pthread_join(first, NULL);
        pthread_join(second, NULL);
        total += sums[0] + sums[1];
    }
    printf("sum %d\n", total);
    return 0;
}
