// Signals for single threads run handlers in these threads: whether they wait in sigsuspend, or sleep.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: 0 1 1 1
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

sem_t ready;
volatile sig_atomic_t handled[4];
static __thread int self;

static void on_signal(int number) {
    (void)number;
    handled[self]++;
}

static void *listener(void *arg) {
    sigset_t wanted;
    self = (int)(long)arg;
    sigfillset(&wanted);
    sigdelset(&wanted, SIGUSR1);
    sem_post(&ready);
    if (self == 3)
        pthread_sigmask(SIG_SETMASK, &wanted, NULL);
    while (!handled[self])
        if (self == 3)
            usleep(1000);
        else
            sigsuspend(&wanted);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    signal(SIGUSR1, on_signal);
    sem_init(&ready, 0, 0);
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, listener, (void *)(i + 1));
    for (int i = 0; i < 3; i++)
        sem_wait(&ready);
    for (int i = 2; i >= 0; i--) {
        pthread_kill(threads[i], SIGUSR1);
        pthread_join(threads[i], NULL);
    }
    printf("%d %d %d %d\n", (int)handled[0], (int)handled[1], (int)handled[2], (int)handled[3]);
    return 0;
}
