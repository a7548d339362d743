// One thread writes to a pipe, another has the kernel carry what is there to a socket, and the third reads it: all
// that the first two have done before comes before that.
//
// NORACE
// EXPECT-STDOUT: values 1 2
// CFLAGS: -D_GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int values[2];
int pipe_ends[2], ends[2];

static void *sender(void *arg) {
    values[0] = 1; // NORACE: values
    char token = 'x';
    return write(pipe_ends[1], &token, 1) == 1 ? NULL : arg;
}

static void *carrier(void *arg) {
    values[1] = 2; // NORACE: values
    return splice(pipe_ends[0], NULL, ends[0], NULL, 1, 0) == 1 ? NULL : arg;
}

int main(void) {
    pthread_t threads[2];
    char token;
    if (pipe(pipe_ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 1;
    pthread_create(&threads[0], NULL, carrier, NULL);
    pthread_create(&threads[1], NULL, sender, NULL);
    if (read(ends[1], &token, 1) == 1)
        printf("values %d %d\n", values[0], values[1]); // NORACE: values
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
