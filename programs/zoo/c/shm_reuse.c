// System V shared memory: each thread attaches a segment of its own, at the same address as the other before.
//
// NORACE
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/shm.h>

static void *worker(void *arg) {
    int segment = shmget(IPC_PRIVATE, 4096, 0600);
    int *memory = shmat(segment, NULL, 0);
    shmctl(segment, IPC_RMID, NULL);
    if (memory != (void *)-1) {
        *memory = 1; // NORACE: memory
        shmdt(memory);
    }
    return arg;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, worker, NULL);
    pthread_create(&second, NULL, worker, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
