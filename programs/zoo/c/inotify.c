// What a thread did before it changes a file is before another reads of the change: made, written, linked, removed.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: 10
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

int values[4];
char folder[] = "inotifyXXXXXX";

static void *changer(void *arg) {
    values[0] = 1; // NORACE: values
    int file = open("one", O_CREAT | O_WRONLY, 0600);
    values[1] = 2; // NORACE: values
    if (write(file, "x", 1) != 1)
        exit(1);
    close(file);
    values[2] = 3; // NORACE: values
    if (link("one", "two") != 0)
        exit(1);
    values[3] = 4; // NORACE: values
    unlink("two");
    return arg;
}

int main(void) {
    const unsigned order[] = {IN_CREATE, IN_MODIFY, IN_CREATE, IN_DELETE};
    char events[4096];
    pthread_t thread;
    int sum = 0, next = 0, file = inotify_init1(IN_CLOEXEC);
    if (mkdtemp(folder) == NULL || chdir(folder) != 0)
        return 1;
    inotify_add_watch(file, ".", IN_CREATE | IN_MODIFY | IN_DELETE);
    pthread_create(&thread, NULL, changer, NULL);
    while (next < 4) {
        ssize_t length = read(file, events, sizeof events);
        for (ssize_t at = 0; at < length;) {
            const struct inotify_event *event = (const struct inotify_event *)(events + at);
            if (next < 4 && event->mask & order[next])
                sum += values[next++]; // NORACE: values
            at += (ssize_t)sizeof *event + event->len;
        }
    }
    pthread_join(thread, NULL);
    unlink("one");
    printf("%d\n", sum);
    return chdir("..") != 0 || rmdir(folder) != 0;
}
