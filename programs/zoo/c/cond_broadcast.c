// Three runners wait at a gate that main opens with one broadcast.
//
// NORACE
// EXPECT-STDOUT: started 3
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { RUNNERS = 3 };

bool gate_open;
int distance;
int started;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t opened = PTHREAD_COND_INITIALIZER;

static void *runner(void *arg) {
    int *my_distance = arg;
    pthread_mutex_lock(&lock);
    while (!gate_open) // NORACE: gate_open
        pthread_cond_wait(&opened, &lock);
    started++; // NORACE: started
    pthread_mutex_unlock(&lock);
    *my_distance = distance; // NORACE: distance
    return NULL;
}

int main(void) {
    pthread_t threads[RUNNERS];
    int distances[RUNNERS];
    for (int i = 0; i < RUNNERS; i++)
        pthread_create(&threads[i], NULL, runner, &distances[i]);
    distance = 100; // NORACE: distance
    pthread_mutex_lock(&lock);
    gate_open = true; // NORACE: gate_open
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < RUNNERS; i++)
        pthread_join(threads[i], NULL);
    printf("started %d\n", started);
    return 0;
}
