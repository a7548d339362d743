// What a thread sends goes to a child process, and comes back from there on another connection. The child was started
// while the thread was at it: it may have been sent before, or after.
//
// NORACE
// EXPECT-STDOUT: value 42
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int value;
int there[2], back[2];

static void *sender(void *arg) {
    value = 42; // NORACE: value
    char token = 'x';
    return write(there[0], &token, 1) == 1 ? NULL : arg;
}

int main(void) {
    pthread_t thread;
    char token;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, there) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, back) != 0)
        return 1;
    pthread_create(&thread, NULL, sender, NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(read(there[1], &token, 1) != 1 || write(back[0], &token, 1) != 1);
    if (read(back[1], &token, 1) == 1)
        printf("value %d\n", value); // NORACE: value
    pthread_join(thread, NULL);
    waitpid(child, NULL, 0);
    return 0;
}
