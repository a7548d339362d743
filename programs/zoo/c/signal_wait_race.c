// What a thread does after it sent a signal is not ordered with whoever accepted it.
//
// NODEADLOCK
// EXPECT-STDOUT: accepted
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

int late;
pthread_t listener;

static void *sender(void *arg) {
    pthread_kill(listener, SIGUSR1);
    late = 1; // RACE: late with line 28
    return arg;
}

int main(void) {
    pthread_t thread;
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    listener = pthread_self();
    pthread_create(&thread, NULL, sender, NULL);
    sigwait(&set, &number);
    late = 2; // RACE: late with line 14
    pthread_join(thread, NULL);
    puts("accepted");
    return 0;
}
