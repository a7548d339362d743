// A threaded program replaces itself with a second run of itself, with an argument, which starts
// threads in turn.
//
// RUN: first
// NORACE
// EXPECT-STDOUT: first 2
// EXPECT-STDOUT: second 2
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int total;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *adder(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    total++; // NORACE: total
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread;
    if (argc != 2)
        return 2;
    pthread_create(&thread, NULL, adder, NULL);
    adder(NULL);
    pthread_join(thread, NULL);
    printf("%s %d\n", argv[1], total);
    fflush(stdout);
    if (strcmp(argv[1], "first") == 0) {
        execl("/proc/self/exe", argv[0], "second", (char *)NULL);
        return 3;
    }
    return 0;
}
