// A stream's lock, kept: it protects what the program likes, and its owner may print meanwhile. The functions behind a stream of the program's own run with
// its lock.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: count 4, written 8
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

int count;
int written;
FILE *own;

static ssize_t take(void *cookie, const char *bytes, size_t length) {
    (void)cookie;
    (void)bytes;
    written += (int)length; // NORACE: written
    return (ssize_t)length;
}

static void *worker(void *arg) {
    flockfile(stderr);
    count++; // NORACE: count
    fputs("worker\n", stderr);
    flockfile(stderr);
    count++; // NORACE: count
    funlockfile(stderr);
    funlockfile(stderr);
    fputs("four", own);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    cookie_io_functions_t functions = {.write = take};
    own = fopencookie(NULL, "w", functions);
    setvbuf(own, NULL, _IONBF, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("count %d, written %d\n", count, written);
    fclose(own);
    return 0;
}
