// A value goes to a server and back, each time with a byte over TCP: the connection carries the
// order. That it was accepted says that the client has connected, too.
//
// NORACE
// EXPECT-STDOUT: values 7 43
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

struct sockaddr_in address = {.sin_family = AF_INET};
socklen_t size = sizeof address;
int before, value;

static void *client(void *arg) {
    int end = socket(AF_INET, SOCK_STREAM, 0);
    char token = 'x';
    before = 7; // NORACE: before
    if (connect(end, (struct sockaddr *)&address, size) != 0)
        return arg;
    value = 42; // NORACE: value
    if (write(end, &token, 1) != 1 || read(end, &token, 1) != 1)
        return arg;
    value++; // NORACE: value
    close(end);
    return NULL;
}

int main(void) {
    pthread_t thread;
    char token;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // The system chooses a free address.
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 1) != 0)
        return 1;
    getsockname(listener, (struct sockaddr *)&address, &size);
    pthread_create(&thread, NULL, client, NULL);
    int end = accept(listener, NULL, NULL);
    int seen = before; // NORACE: before
    if (read(end, &token, 1) != 1 || value != 42) // NORACE: value
        return 1;
    if (write(end, &token, 1) != 1 || read(end, &token, 1) != 0)
        return 1;
    printf("values %d %d\n", seen, value); // NORACE: value
    pthread_join(thread, NULL);
    close(end);
    close(listener);
    return 0;
}
