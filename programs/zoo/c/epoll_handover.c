// A block is handed over with the descriptor that it belongs to: `epoll_ctl` takes its address,
// `epoll_wait` gives it to another thread.
//
// NORACE
// EXPECT-STDOUT: value 42
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

struct work {
    int value;
};

int poller;
int ends[2];

static void *adder(void *arg) {
    struct work *work = malloc(sizeof *work);
    work->value = 42; // NORACE: work->value
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = work};
    epoll_ctl(poller, EPOLL_CTL_ADD, ends[0], &event);
    return arg;
}

int main(void) {
    pthread_t thread;
    struct epoll_event event;
    poller = epoll_create1(0);
    if (poller < 0 || pipe(ends) != 0 || write(ends[1], "x", 1) != 1)
        return 1;
    pthread_create(&thread, NULL, adder, NULL);
    if (epoll_wait(poller, &event, 1, -1) == 1) {
        struct work *work = event.data.ptr;
        printf("value %d\n", work->value); // NORACE: work->value
        free(work);
    }
    pthread_join(thread, NULL);
    return 0;
}
