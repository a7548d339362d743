// Two threads print to one stream: that they do so in some order makes nothing of what they do around it ordered.
#include <pthread.h>
#include <stdio.h>

int value;
int seen;

static void *worker(void *arg) {
    value = 42; // RACE: value with line 19
    printf("worker\n");
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    printf("main\n");
    fflush(stdout);
    seen = value; // RACE: value with line 9
    pthread_join(thread, NULL);
    return 0;
}
