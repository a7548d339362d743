// A signal handler runs in the thread that the signal was sent to, in the middle of whatever main does
// with the same counter.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>

int received;
sem_t arrived;

static void on_signal(int number) {
    (void)number;
    received++; // RACE: received with line 33
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
    received++; // RACE: received with line 13
    pthread_join(thread, NULL);
    return 0;
}
