// Fork handlers take the mutex before the fork and release it on both sides, so that the child process
// never inherits it half-way through somebody else's critical section. (Stock TSan calls the thread
// that stayed in the parent a leak of the child.)
//
// NORACE
// EXPECT-STDOUT: child even 1
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int left, right;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take(void) {
    pthread_mutex_lock(&lock);
}

static void release(void) {
    pthread_mutex_unlock(&lock);
}

static void *adder(void *arg) {
    (void)arg;
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&lock);
        left++; // NORACE: left
        right++; // NORACE: right
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    int status;
    pthread_atfork(take, release, release);
    pthread_create(&thread, NULL, adder, NULL);
    pid_t child = fork();
    if (child == 0) {
        pthread_mutex_lock(&lock);
        int even = left == right; // NORACE: left, right
        pthread_mutex_unlock(&lock);
        _exit(even);
    }
    waitpid(child, &status, 0);
    pthread_join(thread, NULL);
    printf("child even %d\n", WEXITSTATUS(status));
    return 0;
}
