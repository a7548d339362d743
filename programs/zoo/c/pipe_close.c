// No byte goes through the pipe: that its other end is closed is what the reader waits for, and
// what is done before that is ordered.
//
// NORACE
// EXPECT-STDOUT: value 42
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

int value;
int ends[2];

static void *closer(void *arg) {
    value = 42; // NORACE: value
    close(ends[1]);
    return arg;
}

int main(void) {
    pthread_t thread;
    char token;
    if (pipe(ends) != 0)
        return 1;
    pthread_create(&thread, NULL, closer, NULL);
    if (read(ends[0], &token, 1) == 0)
        printf("value %d\n", value); // NORACE: value
    pthread_join(thread, NULL);
    close(ends[0]);
    return 0;
}
