// A signal sent to one thread: the handler runs in that thread, so what it writes is ordered with the
// rest of the thread, and a semaphore wakes the thread up. (Stock TSan may hold the signal back while
// the thread sleeps, for ever.)
//
// NORACE
// EXPECT-STDOUT: received 1
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

volatile sig_atomic_t received;
sem_t arrived;

static void on_signal(int number) {
    (void)number;
    received++; // NORACE: received
    sem_post(&arrived);
}

static void *listener(void *arg) {
    (void)arg;
    while (sem_wait(&arrived) != 0)
        ;
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigaction(SIGUSR1, &action, NULL);
    sem_init(&arrived, 0, 0);
    pthread_create(&thread, NULL, listener, NULL);
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
    printf("received %d\n", (int)received); // NORACE: received
    return 0;
}
