// A thread ticks, and another looks.
#include <pthread.h>
#include <stdio.h>

#include "ticks.h"

static void *run(void *arg) {
    for (int i = 0; i < 3; i++)
        tick();
    return arg;
}

int main(void) {
    pthread_t clock;
    pthread_create(&clock, NULL, run, NULL);
    unsigned seen = ticks();
    pthread_join(clock, NULL);
    printf("%d\n", seen <= ticks());
    return 0;
}
