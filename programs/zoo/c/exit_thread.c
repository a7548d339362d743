// A thread leaves from deep inside with pthread_exit; its result is read after the join.
//
// NORACE
// EXPECT-STDOUT: answer 42
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void search(int number) {
    if (number * number == 1764) {
        int *answer = malloc(sizeof *answer);
        *answer = number; // NORACE: answer
        pthread_exit(answer);
    }
    if (number < 100)
        search(number + 1);
}

static void *searcher(void *arg) {
    (void)arg;
    search(0);
    return NULL;
}

int main(void) {
    pthread_t thread;
    void *answer;
    pthread_create(&thread, NULL, searcher, NULL);
    pthread_join(thread, &answer);
    printf("answer %d\n", *(int *)answer); // NORACE: answer
    free(answer);
    return 0;
}
