// The main thread goes on when a timer's signal has come: that orders nothing with the other threads. One
// timer is of `setitimer`, the other of `timer_create`.
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

int first, second;
volatile sig_atomic_t alarms, ticks;

static void on_alarm(int signal) {
    (void)signal;
    alarms = 1;
}

static void on_tick(int signal) {
    (void)signal;
    ticks = 1;
}

static void *worker(void *arg) {
    first = 1;  // RACE: first with line 42
    second = 1; // RACE: second with line 46
    return arg;
}

int main(void) {
    struct sigaction alarm = {.sa_handler = on_alarm}, tick = {.sa_handler = on_tick};
    struct itimerval soon = {.it_value = {0, 500}};
    struct itimerspec later = {.it_value = {0, 500000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    timer_t timer;
    pthread_t thread;
    sigaction(SIGALRM, &alarm, NULL);
    sigaction(SIGUSR1, &tick, NULL);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        return 1;
    pthread_create(&thread, NULL, worker, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    while (!alarms)
        ;
    int seen = first; // RACE: first with line 22
    timer_settime(timer, 0, &later, NULL);
    while (!ticks)
        ;
    seen += second; // RACE: second with line 23
    pthread_join(thread, NULL);
    return seen >= 0 ? 0 : 1;
}
