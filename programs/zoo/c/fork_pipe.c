// What a thread writes to a pipe goes to a child process, and comes back through another. The child was started while
// the thread was at it: it may have been written before, or after.
//
// NORACE
// EXPECT-STDOUT: value 42
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int value;
int there[2], back[2];

static void *sender(void *arg) {
    value = 42; // NORACE: value
    char token = 'x';
    return write(there[1], &token, 1) == 1 ? NULL : arg;
}

int main(void) {
    pthread_t thread;
    char token;
    if (pipe(there) != 0 || pipe(back) != 0)
        return 1;
    pthread_create(&thread, NULL, sender, NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(read(there[0], &token, 1) != 1 || write(back[1], &token, 1) != 1);
    if (read(back[0], &token, 1) == 1)
        printf("value %d\n", value); // NORACE: value
    pthread_join(thread, NULL);
    waitpid(child, NULL, 0);
    return 0;
}
