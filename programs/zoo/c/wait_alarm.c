// A handler of a timer's signal ends a wait: it posts to a semaphore, or interrupts the sleeper.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: sleep interrupted 1
// EXPECT-STDOUT: sem_wait interrupted 1
// EXPECT-STDOUT: posted
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

sem_t arrived;

static void interrupt(int number) { (void)number; }

static void post(int number) {
    (void)number;
    sem_post(&arrived);
}

static void *waiter(void *arg) {
    while (sem_wait(&arrived) != 0)
        ;
    return arg;
}

int main(void) {
    pthread_t thread;
    struct sigaction action;
    sem_init(&arrived, 0, 0);
    memset(&action, 0, sizeof action);
    action.sa_handler = interrupt;
    sigaction(SIGALRM, &action, NULL);
    alarm(2);
    printf("sleep interrupted %d\n", sleep(5) > 0);
    alarm(1);
    int result = sem_wait(&arrived);
    printf("sem_wait interrupted %d\n", result != 0 && errno == EINTR);
    action.sa_handler = post;
    sigaction(SIGALRM, &action, NULL);
    pthread_create(&thread, NULL, waiter, NULL);
    struct itimerval once = {{0, 0}, {0, 50000}};
    setitimer(ITIMER_REAL, &once, NULL);
    pthread_join(thread, NULL);
    puts("posted");
    return 0;
}
