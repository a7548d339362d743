// Work handed to threads through create and results taken back through join, without any lock.
//
// NORACE
// EXPECT-STDOUT: sum 120
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, PART = 4 };

struct part {
    int numbers[PART];
    int sum;
};

static void *add_up(void *arg) {
    struct part *part = arg;
    for (int i = 0; i < PART; i++)
        part->sum += part->numbers[i]; // NORACE: part->sum, part->numbers
    return part;
}

int main(void) {
    pthread_t threads[THREADS];
    struct part parts[THREADS] = {0};
    int next = 0, sum = 0;
    for (int i = 0; i < THREADS; i++) {
        for (int j = 0; j < PART; j++)
            parts[i].numbers[j] = next++; // NORACE: part->numbers
        pthread_create(&threads[i], NULL, add_up, &parts[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        void *done;
        pthread_join(threads[i], &done);
        sum += ((struct part *)done)->sum; // NORACE: part->sum
    }
    printf("sum %d\n", sum);
    return 0;
}
