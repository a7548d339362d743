// A child process ends the parent's waits: for a semaphore in shared memory, for one with a name, for a condition, at a barrier, and for a robust mutex that it dies with.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: posted, named, ready, met, owner dead
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
    sem_t posted;
    pthread_mutex_t lock, last;
    pthread_cond_t changed;
    pthread_barrier_t meeting;
};

static int child(struct shared *shared, sem_t *named) {
    sem_post(&shared->posted);
    sem_post(named);
    pthread_mutex_lock(&shared->lock);
    pthread_cond_signal(&shared->changed);
    pthread_mutex_unlock(&shared->lock);
    pthread_mutex_lock(&shared->last);
    pthread_barrier_wait(&shared->meeting);
    return 0;
}

int main(void) {
    pthread_mutexattr_t mutex;
    pthread_condattr_t condition;
    pthread_barrierattr_t barrier;
    char name[32];
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    snprintf(name, sizeof name, "/deadheat-zoo-%d", (int)getpid());
    sem_t *named = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
    if (shared == MAP_FAILED || named == SEM_FAILED)
        return 1;
    sem_unlink(name);
    sem_init(&shared->posted, 1, 0);
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->lock, &mutex);
    pthread_mutexattr_setrobust(&mutex, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&shared->last, &mutex);
    pthread_condattr_init(&condition);
    pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&shared->changed, &condition);
    pthread_barrierattr_init(&barrier);
    pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->meeting, &barrier, 2);
    // The child gets it once the parent waits.
    pthread_mutex_lock(&shared->lock);
    if (fork() == 0)
        _exit(child(shared, named));
    sem_wait(&shared->posted);
    printf("posted, ");
    sem_wait(named);
    printf("named, ");
    pthread_cond_wait(&shared->changed, &shared->lock);
    pthread_mutex_unlock(&shared->lock);
    printf("ready, ");
    pthread_barrier_wait(&shared->meeting);
    printf("met, ");
    printf("%s\n", pthread_mutex_lock(&shared->last) == EOWNERDEAD ? "owner dead" : "locked");
    wait(NULL);
    return 0;
}
