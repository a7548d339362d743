// Each number of a descriptor has an element of its own. A worker is done with an element and closes
// the descriptor; the kernel gives the number to somebody else only then, and the element with it.
//
// NORACE
// EXPECT-STDOUT: used
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

int uses[64];
int first;

static void *worker(void *arg) {
    uses[first] = 1; // NORACE: uses
    close(first);
    return arg;
}

static void *nothing(void *arg) {
    return arg;
}

// Meanwhile the worker usually gets through, but nothing makes it.
static void dawdle(void) {
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, nothing, NULL);
        pthread_join(thread, NULL);
    }
}

int main(void) {
    pthread_t thread;
    first = dup(STDOUT_FILENO);
    pthread_create(&thread, NULL, worker, NULL);
    dawdle();
    int second = dup(STDOUT_FILENO); // The first one's number, or another.
    if (second < 0 || second >= 64)
        return 1;
    uses[second] = 2; // NORACE: uses
    pthread_join(thread, NULL);
    close(second);
    puts("used");
    return 0;
}
