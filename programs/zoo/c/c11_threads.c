// C11 threads: create and join order what both sides do; a result travels back through thrd_exit.
// (Stock TSan does not know the C11 thread functions; here and in the other c11_ programs it may
// report races that are none, or crash.)
//
// NORACE
// EXPECT-STDOUT: numbers 10 20 result 7
#include <stdio.h>
#include <threads.h>

int numbers[2];

static int worker(void *arg) {
    int *number = arg;
    *number *= 10; // NORACE: numbers
    thrd_yield();
    if (number == &numbers[1])
        thrd_exit(7);
    return 0;
}

int main(void) {
    thrd_t threads[2];
    int result = 0;
    for (int i = 0; i < 2; i++) {
        numbers[i] = i + 1; // NORACE: numbers
        thrd_create(&threads[i], worker, &numbers[i]);
    }
    for (int i = 0; i < 2; i++)
        thrd_join(threads[i], &result);
    printf("numbers %d %d result %d\n", numbers[0], numbers[1], result); // NORACE: numbers
    return 0;
}
