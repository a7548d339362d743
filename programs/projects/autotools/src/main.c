// One thread puts jobs in, the other does them when there are some.
#include <pthread.h>
#include <stdio.h>

#include "queue.h"

enum { JOBS = 4 };

static void *produce(void *arg) {
    for (int job = 1; job <= JOBS; job++)
        queue_put(job);
    return arg;
}

int main(void) {
    pthread_t producer;
    pthread_create(&producer, NULL, produce, NULL);
    int sum = queue_length() > 0 ? queue_take() : 0;
    pthread_join(producer, NULL);
    for (int job; (job = queue_take()) > 0;)
        sum += job;
    printf("%d\n", sum);
    return 0;
}
