// The two stages of two_stages_race.c with a barrier in between: all have let go of the first lock before
// anybody takes the second. No lock is common to both stages, which is what tools that only look at
// locks complain about.
//
// NORACE
// EXPECT-STDOUT: table 4
#include <pthread.h>
#include <stdio.h>

int table;
pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t using = PTHREAD_MUTEX_INITIALIZER;
pthread_barrier_t change_over;

static void *load_and_use(void *arg) {
    pthread_mutex_lock(&loading);
    table++; // NORACE: table
    pthread_mutex_unlock(&loading);
    pthread_barrier_wait(&change_over);
    pthread_mutex_lock(&using);
    table++; // NORACE: table
    pthread_mutex_unlock(&using);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&change_over, NULL, 2);
    pthread_create(&thread, NULL, load_and_use, NULL);
    load_and_use(NULL);
    pthread_join(thread, NULL);
    printf("table %d\n", table);
    pthread_barrier_destroy(&change_over);
    return 0;
}
