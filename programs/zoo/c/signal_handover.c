// What a thread did before it sends a signal is before what the receiver does once its handler has run: in a loop, and in sigsuspend.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: 1 2
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

int first, second;
pthread_t receiver;
sem_t next;
atomic_int is_first;
volatile sig_atomic_t is_second;

static void on_first(int number) {
    (void)number;
    atomic_store(&is_first, 1);
}

static void on_second(int number) {
    (void)number;
    is_second = 1;
}

static void *sender(void *arg) {
    first = 1; // NORACE: first
    pthread_kill(receiver, SIGUSR1);
    sem_wait(&next);
    second = 2; // NORACE: second
    pthread_kill(receiver, SIGUSR2);
    return arg;
}

int main(void) {
    pthread_t thread;
    struct sigaction action;
    sigset_t blocked, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_first;
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = on_second;
    sigaction(SIGUSR2, &action, NULL);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    sem_init(&next, 0, 0);
    receiver = pthread_self();
    pthread_create(&thread, NULL, sender, NULL);
    while (!atomic_load(&is_first))
        sched_yield();
    int one = first; // NORACE: first
    sem_post(&next);
    while (!is_second)
        sigsuspend(&before);
    int two = second; // NORACE: second
    pthread_join(thread, NULL);
    printf("%d %d\n", one, two);
    return 0;
}
