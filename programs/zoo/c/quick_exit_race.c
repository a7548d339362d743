// A thread that nobody joins changes what is read at the quick end.
#include <pthread.h>
#include <stdlib.h>

int value;
int seen;

static void look(void) {
    seen = value; // RACE: value with line 13
}

static void *worker(void *arg) {
    value = 42; // RACE: value with line 9
    return arg;
}

int main(void) {
    pthread_t thread;
    at_quick_exit(look);
    pthread_create(&thread, NULL, worker, NULL);
    quick_exit(0);
}
