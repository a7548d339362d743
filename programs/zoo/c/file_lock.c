// Two threads lock a file that each of them has opened on its own: with `flock`, and with a lock of the open
// file description.
//
// NORACE
// EXPECT-STDOUT: count 2 total 2
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

int count, total;
char path[] = "/tmp/deadheat-zoo-XXXXXX";

static void *worker(void *arg) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int file = open(path, O_RDWR);
    flock(file, LOCK_EX);
    count++; // NORACE: count
    flock(file, LOCK_UN);
    if (fcntl(file, F_OFD_SETLKW, &whole) == 0)
        total++; // NORACE: total
    close(file);
    return arg;
}

int main(void) {
    pthread_t thread;
    close(mkstemp(path));
    pthread_create(&thread, NULL, worker, NULL);
    worker(NULL);
    pthread_join(thread, NULL);
    unlink(path);
    printf("count %d total %d\n", count, total);
    return 0;
}
