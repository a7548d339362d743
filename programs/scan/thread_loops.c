// Threads that are created in a loop: own parts by index, by allocation, by number; shared ones; joined in a loop.
#include <pthread.h>
#include <stdlib.h>

#define COUNT 4

struct work {
    int number;
    int result;
    int *common;
};

int total, by_number[COUNT], same_slot[COUNT], after_loop;
struct work works[COUNT], halves[COUNT];

static void *with_part(void *argument) {
    struct work *work = argument;
    work->result = work->number;    // NORACE
    total++;                        // RACE!
    ++*work->common;                // RACE!
    return 0;
}

static void *with_heap(void *argument) {
    struct work *work = argument;
    work->result = work->number;    // NORACE
    free(work);                     // NORACE
    after_loop++;                   // RACE!
    return 0;
}

static void *with_number(void *argument) {
    long number = (long)argument;
    by_number[number] = 1;          // NORACE
    return 0;
}

static void *with_half(void *argument) {
    struct work *work = argument;
    work->result++;                 // RACE!
    return 0;
}

static void *with_other(void *argument) {
    long number = (long)argument;
    same_slot[number % 2] = 1;      // RACE!
    return 0;
}

int main(void) {
    pthread_t threads[COUNT];
    int common = 0;
    for (int i = 0; i < COUNT; i++) {
        works[i].number = i;        // NORACE
        works[i].common = &common;  // NORACE
        pthread_create(&threads[i], 0, with_part, &works[i]);
    }
    for (int i = 0; i < COUNT; i++)
        pthread_join(threads[i], 0);
    int sum = total + common;       // NORACE
    for (int i = 0; i < COUNT; i++) {
        struct work *work = malloc(sizeof *work);
        work->number = i;           // NORACE
        pthread_create(&threads[i], 0, with_heap, work);
    }
    for (int i = 0; i < COUNT; i++)
        pthread_join(threads[i], 0);
    sum += after_loop;              // NORACE
    for (long i = 0; i < COUNT; i++)
        pthread_create(&threads[i], 0, with_number, (void *)i);
    for (int i = 0; i < COUNT; i++)
        pthread_join(threads[i], 0);
    sum += by_number[1];            // NORACE
    for (int i = 0; i < COUNT; i++)
        pthread_create(&threads[i], 0, with_half, &halves[i / 2]);
    for (int i = 0; i < COUNT; i++)
        pthread_join(threads[i], 0);
    sum += halves[0].result;        // NORACE
    for (long i = 0; i < COUNT; i++)
        pthread_create(&threads[i], 0, with_other, (void *)i);
    return sum;
}
