// `clone` with flags that make it a fork: the child counts in memory of its own.
//
// NORACE
// EXPECT-STDOUT: counter 1 children 7
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

int counter;
static char stack[64 << 10] __attribute__((aligned(64)));

static int child(void *arg) {
    (void)arg;
    for (int i = 0; i < 7; i++)
        counter++; // NORACE: counter
    return counter;
}

int main(void) {
    int status = 0;
    int process = clone(child, stack + sizeof stack, SIGCHLD, NULL);
    counter++; // NORACE: counter
    if (process < 0 || waitpid(process, &status, 0) != process)
        return 1;
    printf("counter %d children %d\n", counter, WEXITSTATUS(status));
    return 0;
}
