// Two threads map, use and unmap memory. The kernel gives both the same addresses, one after the other: the memory is
// another one each time. One part of a larger mapping is unmapped on its own.
//
// NORACE
// EXPECT-STDOUT: sum 12
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static void *worker(void *arg) {
    int *sum = arg;
    for (int i = 0; i < 2; i++) {
        char *memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            return NULL;
        memory[0] = 1;    // NORACE: memory
        memory[PAGE] = 2; // NORACE: memory
        munmap(memory + PAGE, PAGE);
        int *other = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        *other = 2; // NORACE: other
        *sum += memory[0] + *other;
        munmap(memory, PAGE);
        munmap(other, PAGE);
    }
    return arg;
}

int main(void) {
    pthread_t first, second;
    int sums[2] = {0};
    pthread_create(&first, NULL, worker, &sums[0]);
    pthread_create(&second, NULL, worker, &sums[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("sum %d\n", sums[0] + sums[1]);
    return 0;
}
