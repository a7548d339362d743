// A System V message queue: a message of either kind carries the order.
//
// NORACE
// EXPECT-STDOUT: values 41 42
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/msg.h>

struct message {
    long kind;
    char text;
};

int first, second;

static void *sender(void *arg) {
    int queue = (int)(intptr_t)arg;
    struct message one = {1, 'a'}, two = {2, 'b'};
    first = 41; // NORACE: first
    if (msgsnd(queue, &one, 1, 0) != 0)
        return arg;
    second = 42; // NORACE: second
    msgsnd(queue, &two, 1, 0);
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct message got;
    int seen[2] = {0};
    int queue = msgget(IPC_PRIVATE, 0600);
    if (queue < 0)
        return 1;
    pthread_create(&thread, NULL, sender, (void *)(intptr_t)queue);
    if (msgrcv(queue, &got, 1, 2, 0) == 1)
        seen[1] = second; // NORACE: second
    if (msgrcv(queue, &got, 1, 1, 0) == 1)
        seen[0] = first; // NORACE: first
    printf("values %d %d\n", seen[0], seen[1]);
    pthread_join(thread, NULL);
    msgctl(queue, IPC_RMID, NULL);
    return 0;
}
