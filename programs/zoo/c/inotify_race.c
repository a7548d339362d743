// A thread changes a file first, and then what the reader of the change looks at.
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

int value, seen;
char folder[] = "inotifyXXXXXX";

static void *changer(void *arg) {
    close(open("one", O_CREAT | O_WRONLY, 0600));
    value = 1; // RACE: value with line 29
    return arg;
}

int main(void) {
    char events[4096];
    pthread_t thread;
    int file = inotify_init();
    if (mkdtemp(folder) == NULL || chdir(folder) != 0)
        return 1;
    inotify_add_watch(file, ".", IN_CREATE);
    pthread_create(&thread, NULL, changer, NULL);
    if (read(file, events, sizeof events) <= 0)
        return 1;
    // That the file is closed orders nothing more: nobody reads of it.
    close(file);
    seen = value; // RACE: value with line 13
    pthread_join(thread, NULL);
    unlink("one");
    return chdir("..") != 0 || rmdir(folder) != 0;
}
