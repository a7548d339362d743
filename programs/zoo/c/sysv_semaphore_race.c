// A System V semaphore is raised before all is done, and another of the same set guards nothing.
#include <pthread.h>
#include <stdint.h>
#include <sys/ipc.h>
#include <sys/sem.h>

int value;
int seen;

static void change(int set, unsigned short number, short by) {
    struct sembuf operation = {number, by, 0};
    semop(set, &operation, 1);
}

static void *worker(void *arg) {
    int set = (int)(intptr_t)arg;
    change(set, 0, 1);
    value = 42; // RACE: value with line 30
    change(set, 1, 1);
    return NULL;
}

int main(void) {
    pthread_t thread;
    int set = semget(IPC_PRIVATE, 2, 0600);
    if (set < 0)
        return 1;
    pthread_create(&thread, NULL, worker, (void *)(intptr_t)set);
    change(set, 0, -1);
    seen = value; // RACE: value with line 18
    change(set, 1, -1);
    seen = value; // NORACE: value
    pthread_join(thread, NULL);
    semctl(set, 0, IPC_RMID);
    return 0;
}
