// Code that nothing reaches, functions that do not return, endless loops, empty functions.
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int dead, after_end, endless, guarded_by_exit;

static void nothing(void) {}

static _Noreturn void stop(void) { exit(1); }

static void never(void) {
    dead++;                         // NORACE
}

static void check(int n) {
    pthread_mutex_lock(&lock);
    if (n < 0) {
        pthread_mutex_unlock(&lock);
        stop();
    }
    guarded_by_exit++;              // NORACE
    pthread_mutex_unlock(&lock);
}

static void *worker(void *argument) {
    nothing();
    check((int)(long)argument);
    if (argument == (void *)-1) {
        abort();
        after_end++;                // NORACE
    }
    for (;;)
        endless++;                  // RACE!
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, (void *)1);
    pthread_create(&b, 0, worker, (void *)2);
    after_end = 1;                  // NORACE
    dead = 1;                       // NORACE
    endless = 1;                    // RACE!
    pthread_exit(0);
    never();
}
