// A threaded program forks. The child process is a copy with one thread: what it does to the total is
// its own business and races with nothing, lock or no lock. (Older TSan runtimes carry their memory of
// the parent's accesses along and report `total` in the child.)
//
// NORACE
// EXPECT-STDOUT: child 7 total 10
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int total;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *adder(void *arg) {
    (void)arg;
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&lock);
        total++; // NORACE: total
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    int status;
    pthread_create(&thread, NULL, adder, NULL);
    pid_t child = fork();
    if (child == 0) {
        total = 7; // NORACE: total
        _exit(total); // NORACE: total
    }
    waitpid(child, &status, 0);
    pthread_join(thread, NULL);
    printf("child %d total %d\n", WEXITSTATUS(status), total);
    return 0;
}
