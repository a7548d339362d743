// The race is in the forked child: the parent has one thread only.
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int value;

static void *racer(void *arg) {
    value = 42; // RACE: value with line 10
    return arg;
}

int main(void) {
    if (fork() == 0) {
        pthread_t first, second;
        pthread_create(&first, NULL, racer, NULL);
        pthread_create(&second, NULL, racer, NULL);
        pthread_join(first, NULL);
        pthread_join(second, NULL);
        exit(0);
    }
    wait(NULL);
    return 0;
}
