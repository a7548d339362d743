// A value goes to the other thread and back, each time with a byte through a pair of sockets: each
// direction carries its own order.
//
// NORACE
// EXPECT-STDOUT: value 43
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int value;
int ends[2];

static void *adder(void *arg) {
    char token;
    if (read(ends[1], &token, 1) != 1)
        return arg;
    value++; // NORACE: value
    return write(ends[1], &token, 1) == 1 ? NULL : arg;
}

int main(void) {
    pthread_t thread;
    char token = 'x';
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 1;
    pthread_create(&thread, NULL, adder, NULL);
    value = 42; // NORACE: value
    if (write(ends[0], &token, 1) != 1 || read(ends[0], &token, 1) != 1)
        return 1;
    printf("value %d\n", value); // NORACE: value
    pthread_join(thread, NULL);
    close(ends[0]);
    close(ends[1]);
    return 0;
}
