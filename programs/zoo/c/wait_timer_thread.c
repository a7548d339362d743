// A thread of libc's own ends a wait: a timer with SIGEV_THREAD.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: posted
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

sem_t arrived;

static void post(union sigval value) {
    (void)value;
    sem_post(&arrived);
}

static void *waiter(void *arg) {
    sem_wait(&arrived);
    return arg;
}

int main(void) {
    pthread_t thread;
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = post};
    struct itimerspec once = {{0, 0}, {0, 100000000}};
    sem_init(&arrived, 0, 0);
    pthread_create(&thread, NULL, waiter, NULL);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &once, NULL);
    pthread_join(thread, NULL);
    puts("posted");
    return 0;
}
