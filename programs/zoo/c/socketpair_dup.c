// What is written to a copy of a descriptor arrives at the same place. The copies still carry the order
// when the descriptors they were made from are closed at both ends.
//
// NORACE
// EXPECT-STDOUT: values 1 2
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int values[2];
int ends[2];
int copies[2];

static void *sender(void *arg) {
    char token = 'x';
    values[0] = 1; // NORACE: values
    if (write(copies[1], &token, 1) != 1 || read(copies[1], &token, 1) != 1)
        return arg;
    close(ends[1]);
    values[1] = 2; // NORACE: values
    return write(copies[1], &token, 1) == 1 ? NULL : arg;
}

int main(void) {
    pthread_t thread;
    char token;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 1;
    copies[0] = dup(ends[0]);
    copies[1] = dup(ends[1]);
    pthread_create(&thread, NULL, sender, NULL);
    if (read(ends[0], &token, 1) != 1)
        return 1;
    int first = values[0]; // NORACE: values
    close(ends[0]);
    if (write(copies[0], &token, 1) != 1 || read(copies[0], &token, 1) != 1)
        return 1;
    printf("values %d %d\n", first, values[1]); // NORACE: values
    pthread_join(thread, NULL);
    return 0;
}
