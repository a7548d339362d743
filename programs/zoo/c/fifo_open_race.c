// What is done after both ends of a FIFO are open is not ordered by that.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

char folder[] = "/tmp/zooXXXXXX", file[64];
int before, after;

static void *reads(void *arg) {
    before = 1; // NORACE: before
    int reader = open(file, O_RDONLY);
    after = 2; // RACE: after with line 31
    close(reader);
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
    int writer = open(file, O_WRONLY);
    int seen = before; // NORACE: before
    // The other end is open as well.
    seen += after; // RACE: after with line 15
    pthread_join(thread, NULL);
    close(writer);
    unlink(file);
    rmdir(folder);
    return seen >= 1 ? 0 : 1;
}
