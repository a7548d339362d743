// The receiver looks at the value before it has received anything.
#include <pthread.h>
#include <stdint.h>
#include <sys/ipc.h>
#include <sys/msg.h>

struct message {
    long kind;
    char text;
};

int value;
int seen;

static void *sender(void *arg) {
    int queue = (int)(intptr_t)arg;
    struct message message = {1, 'a'};
    value = 41; // RACE: value with line 30
    msgsnd(queue, &message, 1, 0);
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct message got;
    int queue = msgget(IPC_PRIVATE, 0600);
    if (queue < 0)
        return 1;
    pthread_create(&thread, NULL, sender, (void *)(intptr_t)queue);
    seen = value; // RACE: value with line 18
    msgrcv(queue, &got, 1, 0, 0);
    seen = value; // NORACE: value
    pthread_join(thread, NULL);
    msgctl(queue, IPC_RMID, NULL);
    return 0;
}
