// Only the second image, after the exec, has a race: the first one starts no thread.
//
// RUN: first
#include <pthread.h>
#include <string.h>
#include <unistd.h>

int total;

static void *adder(void *arg) {
    (void)arg;
    total++; // RACE: total with line 23
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread;
    if (argc == 2 && strcmp(argv[1], "first") == 0) {
        execl("/proc/self/exe", argv[0], "second", (char *)NULL);
        return 3;
    }
    pthread_create(&thread, NULL, adder, NULL);
    total++; // RACE: total with line 12
    pthread_join(thread, NULL);
    return 0;
}
