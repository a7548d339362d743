// A thread prints to a socket: what it has done before comes before what the reader does. All arguments arrive, those
// in the processor's other registers, too.
//
// NORACE
// EXPECT-STDOUT: 1 2 3 4 5 6 0.5 1.5 and value 42
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int value;
int ends[2];
double halves[2] = {0.5, 1.5};

static void *printer(void *arg) {
    value = 42; // NORACE: value
    dprintf(ends[1], "%d %d %d %d %d %d %.1f %.1f", 1, 2, 3, 4, 5, 6, halves[0], halves[1]);
    return arg;
}

int main(void) {
    pthread_t thread;
    char text[64];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 1;
    pthread_create(&thread, NULL, printer, NULL);
    ssize_t length = read(ends[0], text, sizeof text);
    if (length > 0)
        printf("%.*s and value %d\n", (int)length, text, value); // NORACE: value
    pthread_join(thread, NULL);
    return 0;
}
