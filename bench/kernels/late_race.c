// Two threads work on a table under a lock for many rounds, and in the end both write to one variable without it: a race with a
// long way to it.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 256 };

static int table[WORDS];
int last;
static int rounds = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg) {
    int own = *(int *)arg;
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        for (int j = 0; j < 32; j++)
            table[(i * 32 + j) % WORDS] += own; // NORACE: table
        pthread_mutex_unlock(&lock);
    }
    last = own; // RACE: last with line 22
    return 0;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    int numbers[2] = {1, 2};
    if (argc > 1)
        rounds = atoi(argv[1]);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    printf("%d\n", table[0]);
    return 0;
}
