// A child process is sent ends of two connections that were made after it. What a thread sends on one of them
// comes back on the other.
//
// NORACE
// EXPECT-STDOUT: value 42
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

union Space {
    char bytes[CMSG_SPACE(2 * sizeof(int))];
    struct cmsghdr header;
};

int value;
int there[2], back[2];

static void *sender(void *arg) {
    value = 42; // NORACE: value
    char token = 'x';
    return write(there[0], &token, 1) == 1 ? NULL : arg;
}

static int pass(int to, int first, int second) {
    int both[2] = {first, second};
    char token = 'x';
    union Space space = {{0}};
    struct iovec piece = {&token, 1};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &space, .msg_controllen = sizeof space};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof both);
    memcpy(CMSG_DATA(header), both, sizeof both);
    return sendmsg(to, &message, 0) == 1;
}

static int echo(int from) {
    int both[2];
    char token;
    union Space space = {{0}};
    struct iovec piece = {&token, 1};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &space, .msg_controllen = sizeof space};
    if (recvmsg(from, &message, 0) != 1)
        return 1;
    memcpy(both, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof both);
    return read(both[0], &token, 1) != 1 || write(both[1], &token, 1) != 1;
}

int main(void) {
    int to_child[2];
    pthread_t thread;
    char token;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, to_child) != 0)
        return 1;
    pid_t child = fork();
    if (child == 0)
        _exit(echo(to_child[1]));
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, there) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, back) != 0)
        return 1;
    pthread_create(&thread, NULL, sender, NULL);
    if (pass(to_child[0], there[1], back[0]) && read(back[1], &token, 1) == 1)
        printf("value %d\n", value); // NORACE: value
    pthread_join(thread, NULL);
    waitpid(child, NULL, 0);
    return 0;
}
