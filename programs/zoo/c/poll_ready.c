// Three ways to learn that something can be read, without reading it: `poll`, `select`, and `epoll`. Who is told so comes
// after the write.
//
// NORACE
// EXPECT-STDOUT: values 1 2 3
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <unistd.h>

int values[3];
int pipes[2][2];
int counter;

static void *writer(void *arg) {
    values[0] = 1; // NORACE: values
    if (write(pipes[0][1], "x", 1) != 1)
        return arg;
    values[1] = 2; // NORACE: values
    if (write(pipes[1][1], "x", 1) != 1)
        return arg;
    values[2] = 3; // NORACE: values
    eventfd_write(counter, 1);
    return NULL;
}

int main(void) {
    pthread_t thread;
    int seen[3] = {0};
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 7};
    int epoll = epoll_create1(0);
    counter = eventfd(0, 0);
    if (pipe(pipes[0]) != 0 || pipe(pipes[1]) != 0)
        return 1;
    epoll_ctl(epoll, EPOLL_CTL_ADD, counter, &event);
    pthread_create(&thread, NULL, writer, NULL);
    struct pollfd one = {.fd = pipes[0][0], .events = POLLIN};
    if (poll(&one, 1, -1) == 1)
        seen[0] = values[0]; // NORACE: values
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipes[1][0], &set);
    if (select(pipes[1][0] + 1, &set, NULL, NULL, NULL) == 1)
        seen[1] = values[1]; // NORACE: values
    if (epoll_wait(epoll, &event, 1, -1) == 1)
        seen[2] = values[2]; // NORACE: values
    pthread_join(thread, NULL);
    printf("values %d %d %d\n", seen[0], seen[1], seen[2]);
    return 0;
}
