// A thread has the kernel send a file: what it has done before comes before what the receiver does.
//
// NORACE
// EXPECT-STDOUT: value 42
// CFLAGS: -D_GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

int value;
int file;
int ends[2];

static void *sender(void *arg) {
    off_t start = 0;
    value = 42; // NORACE: value
    return sendfile(ends[0], file, &start, 1) == 1 ? NULL : arg;
}

int main(void) {
    pthread_t thread;
    char token = 'x';
    file = memfd_create("token", 0);
    if (write(file, &token, 1) != 1 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 1;
    pthread_create(&thread, NULL, sender, NULL);
    if (read(ends[1], &token, 1) == 1)
        printf("value %d\n", value); // NORACE: value
    pthread_join(thread, NULL);
    return 0;
}
