// A pipe with both ends in this process: a signal handler writes to it, so a read of it is no deadlock.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: alarm 1
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int ends[2];

static void tell(int number) {
    char byte = (char)number;
    if (write(ends[1], &byte, 1) != 1)
        _exit(1);
}

static void *reader(void *arg) {
    char byte = 0;
    if (read(ends[0], &byte, 1) == 1)
        printf("alarm %d\n", byte == SIGALRM);
    return arg;
}

int main(void) {
    pthread_t thread;
    struct sigaction action;
    if (pipe(ends) != 0)
        return 1;
    memset(&action, 0, sizeof action);
    action.sa_handler = tell;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    pthread_create(&thread, NULL, reader, NULL);
    alarm(1);
    pthread_join(thread, NULL);
    return 0;
}
