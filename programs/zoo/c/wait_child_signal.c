// A child's signal ends a wait: its handler posts to a semaphore.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: posted
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

sem_t arrived;

static void post(int number) {
    (void)number;
    sem_post(&arrived);
}

int main(void) {
    sem_init(&arrived, 0, 0);
    signal(SIGUSR1, post);
    pid_t parent = getpid();
    if (fork() == 0) {
        usleep(200000);
        kill(parent, SIGUSR1);
        _exit(0);
    }
    while (sem_wait(&arrived) != 0)
        ;
    wait(NULL);
    puts("posted");
    return 0;
}
