// A System V semaphore is raised before all is done, and another of the same set guards nothing.
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/sem.h>

int value;
int seen;
int set;

static void change(unsigned short number, short by) {
    struct sembuf operation = {number, by, 0};
    semop(set, &operation, 1);
}

static void *worker(void *arg) {
    change(0, 1);
    value = 42; // RACE: value with line 29
    change(1, 1);
    return arg;
}

int main(void) {
    pthread_t thread;
    set = semget(IPC_PRIVATE, 2, 0600);
    if (set < 0)
        return 1;
    pthread_create(&thread, NULL, worker, NULL);
    change(0, -1);
    seen = value; // RACE: value with line 17
    change(1, -1);
    seen = value; // NORACE: value
    pthread_join(thread, NULL);
    semctl(set, 0, IPC_RMID);
    return 0;
}
