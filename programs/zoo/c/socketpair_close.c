// No byte goes through the pair of sockets: that its other end is closed is what the reader waits for, and
// what is done before that is ordered. The end has two numbers, and the second is the last.
//
// NORACE
// EXPECT-STDOUT: value 42
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int value;
int ends[2];
int again;

static void *closer(void *arg) {
    close(ends[1]);
    value = 42; // NORACE: value
    close(again);
    return arg;
}

int main(void) {
    pthread_t thread;
    char token;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 1;
    again = dup(ends[1]);
    pthread_create(&thread, NULL, closer, NULL);
    if (read(ends[0], &token, 1) == 0)
        printf("value %d\n", value); // NORACE: value
    pthread_join(thread, NULL);
    close(ends[0]);
    return 0;
}
