// sem_trywait and sem_timedwait: both refuse an empty semaphore and both take a filled one.
//
// NORACE
// EXPECT-STDOUT: got 1 2
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

int first_value, second_value;
sem_t first_ready, second_ready;

static void *producer(void *arg) {
    (void)arg;
    first_value = 1; // NORACE: first_value
    sem_post(&first_ready);
    second_value = 2; // NORACE: second_value
    sem_post(&second_ready);
    return NULL;
}

int main(void) {
    struct timespec long_ago = {0}, limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 3600;
    sem_init(&first_ready, 0, 0);
    sem_init(&second_ready, 0, 0);
    int refused = sem_trywait(&first_ready);
    assert(refused == -1);
    refused = sem_timedwait(&first_ready, &long_ago);
    assert(refused == -1);

    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    while (sem_trywait(&first_ready) != 0)
        sched_yield();
    int got = first_value; // NORACE: first_value
    while (sem_timedwait(&second_ready, &limit) != 0)
        ;
    printf("got %d %d\n", got, second_value); // NORACE: second_value
    pthread_join(thread, NULL);
    return 0;
}
