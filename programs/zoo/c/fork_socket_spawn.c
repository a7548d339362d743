// Another program is started between two connections: what a thread sends on one comes back on the other.
//
// NORACE
// EXPECT-STDOUT: value 42
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int value;
int there[2], back[2];

static void *sender(void *arg) {
    value = 42; // NORACE: value
    char token = 'x';
    if (write(there[0], &token, 1) != 1)
        return arg;
    shutdown(there[0], SHUT_WR);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pid_t child;
    char token, *arguments[] = {"cat", NULL};
    posix_spawn_file_actions_t actions;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, there) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, back) != 0)
        return 1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, there[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, back[0], STDOUT_FILENO);
    pthread_create(&thread, NULL, sender, NULL);
    if (posix_spawnp(&child, "cat", &actions, NULL, arguments, environ) != 0)
        return 1;
    if (read(back[1], &token, 1) == 1)
        printf("value %d\n", value); // NORACE: value
    pthread_join(thread, NULL);
    waitpid(child, NULL, 0);
    posix_spawn_file_actions_destroy(&actions);
    return 0;
}
