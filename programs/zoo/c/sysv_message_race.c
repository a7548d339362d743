// The receiver looks at the value before it has received anything.
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/msg.h>

struct message {
    long kind;
    char text;
};

int value;
int seen;
int queue;

static void *sender(void *arg) {
    struct message message = {1, 'a'};
    value = 41; // RACE: value with line 29
    msgsnd(queue, &message, 1, 0);
    return arg;
}

int main(void) {
    pthread_t thread;
    struct message got;
    queue = msgget(IPC_PRIVATE, 0600);
    if (queue < 0)
        return 1;
    pthread_create(&thread, NULL, sender, NULL);
    seen = value; // RACE: value with line 17
    msgrcv(queue, &got, 1, 0, 0);
    seen = value; // NORACE: value
    pthread_join(thread, NULL);
    msgctl(queue, IPC_RMID, NULL);
    return 0;
}
