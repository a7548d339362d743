// One thread blocks in read on a pipe until the other writes to it: the byte that goes through the
// kernel carries the order.
//
// NORACE
// EXPECT-STDOUT: value 42
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

int value;
int ends[2];

static void *sender(void *arg) {
    (void)arg;
    value = 42; // NORACE: value
    char token = 'x';
    return write(ends[1], &token, 1) == 1 ? NULL : arg;
}

int main(void) {
    pthread_t thread;
    char token;
    if (pipe(ends) != 0)
        return 1;
    pthread_create(&thread, NULL, sender, NULL);
    if (read(ends[0], &token, 1) == 1)
        printf("value %d\n", value); // NORACE: value
    pthread_join(thread, NULL);
    close(ends[0]);
    close(ends[1]);
    return 0;
}
