// Handlers that leave by siglongjmp: out of pause, of sem_wait, of a lock that nobody gives back, and out of raise.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: 4 jumps
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile int jumps;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
sem_t never, done;

static void jump(int number) {
    (void)number;
    jumps++;
    siglongjmp(back, 1);
}

static void *other(void *arg) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sem_wait(&done);
    return arg;
}

int main(void) {
    pthread_t thread;
    sem_init(&never, 0, 0);
    sem_init(&done, 0, 0);
    pthread_create(&thread, NULL, other, NULL);
    signal(SIGALRM, jump);
    if (sigsetjmp(back, 1) == 0) {
        alarm(1);
        for (;;)
            pause();
    }
    if (sigsetjmp(back, 1) == 0) {
        alarm(1);
        for (;;)
            sem_wait(&never);
    }
    pthread_mutex_lock(&mutex);
    if (sigsetjmp(back, 1) == 0) {
        alarm(1);
        pthread_mutex_lock(&mutex);
    }
    pthread_mutex_unlock(&mutex);
    if (sigsetjmp(back, 1) == 0)
        raise(SIGALRM);
    sem_post(&done);
    pthread_join(thread, NULL);
    printf("%d jumps\n", jumps);
    return 0;
}
