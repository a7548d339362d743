// System V semaphores: one is a lock, one is raised when a value is there, and one is waited for until it is at zero.
//
// NORACE
// EXPECT-STDOUT: count 3 value 42 last 7
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/sem.h>

enum { LOCK, READY, BUSY };

int count, value, last;

static void change(int set, unsigned short number, short by) {
    struct sembuf operation = {number, by, 0};
    semop(set, &operation, 1);
}

static void add(int set) {
    change(set, LOCK, -1);
    count++; // NORACE: count
    change(set, LOCK, 1);
}

static void *worker(void *arg) {
    int set = (int)(intptr_t)arg;
    add(set);
    value = 42; // NORACE: value
    change(set, READY, 1);
    add(set);
    last = 7; // NORACE: last
    change(set, BUSY, -1);
    return NULL;
}

int main(void) {
    pthread_t thread;
    int seen[2];
    int set = semget(IPC_PRIVATE, 3, 0600);
    if (set < 0)
        return 1;
    semctl(set, LOCK, SETVAL, 1);
    semctl(set, BUSY, SETVAL, 1);
    pthread_create(&thread, NULL, worker, (void *)(intptr_t)set);
    add(set);
    change(set, READY, -1);
    seen[0] = value; // NORACE: value
    change(set, BUSY, 0);
    seen[1] = last; // NORACE: last
    pthread_join(thread, NULL);
    printf("count %d value %d last %d\n", count, seen[0], seen[1]);
    semctl(set, 0, IPC_RMID);
    return 0;
}
