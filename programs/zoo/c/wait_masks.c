// ppoll, pselect and epoll_pwait let a signal in while they wait, and it ends them; message queues end by time.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: 3 of 3 interrupted, 2 of 2 timed out
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

pthread_t listener;

static void handler(int number) { (void)number; }

static void *sender(void *arg) {
    pthread_kill(listener, SIGUSR1);
    return arg;
}

int main(void) {
    struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 8};
    struct sigaction action;
    struct epoll_event event;
    struct timespec until;
    char name[40], message[8];
    pthread_t thread;
    sigset_t one, before;
    int count = 0, late = 0;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &one, &before);
    listener = pthread_self();
    int poller = epoll_create1(0);
    for (int kind = 0; kind < 3; kind++) {
        int result = 0;
        pthread_create(&thread, NULL, sender, NULL);
        if (kind == 0)
            result = ppoll(NULL, 0, NULL, &before);
        else if (kind == 1)
            result = pselect(0, NULL, NULL, NULL, NULL, &before);
        else
            result = epoll_pwait(poller, &event, 1, -1, &before);
        count += result == -1 && errno == EINTR;
        pthread_join(thread, NULL);
    }
    snprintf(name, sizeof name, "/masks-%d", (int)getpid());
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
    if (queue == (mqd_t)-1 || mq_unlink(name) != 0)
        return 1;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    late += mq_timedreceive(queue, message, sizeof message, NULL, &until) == -1 && errno == ETIMEDOUT;
    mq_send(queue, "x", 1, 0);
    late += mq_timedsend(queue, "x", 1, 0, &until) == -1 && errno == ETIMEDOUT;
    printf("%d of 3 interrupted, %d of 2 timed out\n", count, late);
    return 0;
}
