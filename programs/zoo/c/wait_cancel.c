// Cancellation ends a wait at every cancellation point: semaphore, condition, join, pipe, signal. While it is disabled it does not.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: 8 of 8 cancelled
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
sem_t never, done;
int ends[2];
pthread_t idler;

static void unlock(void *lock) { pthread_mutex_unlock(lock); }

static void *idle(void *arg) {
    sem_wait(&done);
    return arg;
}

static void *waiter(void *arg) {
    sigset_t set;
    int signal, state;
    char byte;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    switch ((long)arg) {
    case 0:
        sem_wait(&never);
        break;
    case 1:
        pthread_mutex_lock(&mutex);
        pthread_cleanup_push(unlock, &mutex);
        pthread_cond_wait(&condition, &mutex);
        pthread_cleanup_pop(1);
        break;
    case 2:
        pthread_join(idler, NULL);
        break;
    case 3:
        if (read(ends[0], &byte, 1) == 1)
            return NULL;
        break;
    case 4:
        pause();
        break;
    case 5:
        sigwait(&set, &signal);
        break;
    case 6:
        sigsuspend(&set);
        break;
    case 7:
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
        usleep(1000);
        pthread_setcancelstate(state, NULL);
        for (;;)
            sem_wait(&never);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    sigset_t set;
    int count = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sem_init(&never, 0, 0);
    sem_init(&done, 0, 0);
    if (pipe(ends) != 0)
        return 1;
    pthread_create(&idler, NULL, idle, NULL);
    for (long kind = 0; kind < 8; kind++) {
        void *result = NULL;
        pthread_create(&thread, NULL, waiter, (void *)kind);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        count += result == PTHREAD_CANCELED;
    }
    sem_post(&done);
    pthread_join(idler, NULL);
    printf("%d of 8 cancelled\n", count);
    return 0;
}
