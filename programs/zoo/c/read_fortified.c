// The C library checks the length of what is read into a buffer whose size the compiler knows, and then does as it always does.
//
// NORACE
// EXPECT-STDOUT: value 42
// CFLAGS: -O1 -D_FORTIFY_SOURCE=2
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int value;
int ends[2];
size_t length = 1;

static void *sender(void *arg) {
    value = 42; // NORACE: value
    char token = 'x';
    return write(ends[1], &token, 1) == 1 ? NULL : arg;
}

int main(void) {
    pthread_t thread;
    char tokens[8];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 1;
    pthread_create(&thread, NULL, sender, NULL);
    if (read(ends[0], tokens, length) == 1)
        printf("value %d\n", value); // NORACE: value
    pthread_join(thread, NULL);
    return 0;
}
