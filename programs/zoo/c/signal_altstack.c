// Handlers on alternate stacks: each thread's own.
//
// NORACE
// EXPECT-STDOUT: 1 1
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

char stacks[2][65536];
volatile sig_atomic_t there[2];
static __thread int self;

static void on_signal(int number) {
    uintptr_t here = (uintptr_t)&number, start = (uintptr_t)stacks[self];
    there[self] = here >= start && here < start + sizeof stacks[self];
}

static void *user(void *arg) {
    stack_t stack;
    memset(&stack, 0, sizeof stack);
    self = (int)(long)arg;
    stack.ss_sp = stacks[self];
    stack.ss_size = sizeof stacks[self];
    sigaltstack(&stack, NULL);
    for (int i = 0; i < 10; i++)
        sched_yield();
    raise(SIGUSR1);
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, user, (void *)1L);
    user((void *)0L);
    pthread_join(thread, NULL);
    printf("%d %d\n", (int)there[0], (int)there[1]);
    return 0;
}
