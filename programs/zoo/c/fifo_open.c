// Whoever opens one end of a FIFO waits until somebody opens the other, and knows what that one has done
// before.
//
// NORACE
// EXPECT-STDOUT: 41 42
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

char folder[] = "/tmp/zooXXXXXX", file[64];
int first, second, seen;
int reader = -1;

static void *reads(void *arg) {
    first = 41; // NORACE: first
    reader = open(file, O_RDONLY);
    seen = second; // NORACE: second
    return arg;
}

int main(void) {
    pthread_t thread;
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(file, sizeof file, "%s/fifo", folder);
    if (mkfifo(file, 0600) != 0)
        return 1;
    pthread_create(&thread, NULL, reads, NULL);
    second = 42; // NORACE: second
    int writer = open(file, O_WRONLY);
    int known = first; // NORACE: first
    pthread_join(thread, NULL);
    printf("%d %d\n", known, seen);
    close(writer);
    close(reader);
    unlink(file);
    rmdir(folder);
    return 0;
}
