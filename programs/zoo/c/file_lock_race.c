// Locks on files that exclude nobody: shared ones, those of a process (its threads all have them), and `flock` through
// one and the same open file.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

int shared, process, same;
int file;
char path[] = "/tmp/deadheat-zoo-XXXXXX";

static void *worker(void *arg) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int own = open(path, O_RDWR);
    flock(own, LOCK_SH);
    shared++; // RACE: shared with line 18
    flock(own, LOCK_UN);
    fcntl(own, F_SETLKW, &whole);
    process++; // RACE: process with line 21
    whole.l_type = F_UNLCK;
    fcntl(own, F_SETLK, &whole);
    flock(file, LOCK_EX);
    same++; // RACE: same with line 25
    flock(file, LOCK_UN);
    return arg;
}

int main(void) {
    pthread_t thread;
    file = mkstemp(path);
    pthread_create(&thread, NULL, worker, NULL);
    worker(NULL);
    pthread_join(thread, NULL);
    unlink(path);
    return 0;
}
