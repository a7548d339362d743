// What a thread did before it sends a signal is before the return of sigwait, sigwaitinfo and a read of a signalfd.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: 1 2 3
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

int first, second, third;
pthread_t listener;

static void *sender(void *arg) {
    union sigval value = {.sival_int = 0};
    first = 1; // NORACE: first
    pthread_kill(listener, SIGUSR1);
    second = 2; // NORACE: second
    sigqueue(getpid(), SIGRTMIN, value);
    third = 3; // NORACE: third
    kill(getpid(), SIGUSR2);
    return arg;
}

int main(void) {
    pthread_t thread;
    sigset_t one, two, three, all;
    struct signalfd_siginfo record;
    siginfo_t info;
    int number;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    sigemptyset(&two);
    sigaddset(&two, SIGRTMIN);
    sigemptyset(&three);
    sigaddset(&three, SIGUSR2);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    int file = signalfd(-1, &three, 0);
    listener = pthread_self();
    pthread_create(&thread, NULL, sender, NULL);
    sigwait(&one, &number);
    int a = first; // NORACE: first
    sigwaitinfo(&two, &info);
    int b = second; // NORACE: second
    if (read(file, &record, sizeof record) != sizeof record)
        return 1;
    int c = third; // NORACE: third
    pthread_join(thread, NULL);
    printf("%d %d %d\n", a, b, c);
    return 0;
}
