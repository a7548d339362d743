// The writer goes on after it has written; and whoever polled the other pipe knows nothing.
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

int value;
int seen;
int ends[2];

static void *writer(void *arg) {
    if (write(ends[1], "x", 1) != 1)
        return arg;
    value = 1; // RACE: value with line 24
    return NULL;
}

int main(void) {
    pthread_t thread;
    if (pipe(ends) != 0)
        return 1;
    pthread_create(&thread, NULL, writer, NULL);
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    if (poll(&one, 1, -1) == 1)
        seen = value; // RACE: value with line 13
    pthread_join(thread, NULL);
    return 0;
}
