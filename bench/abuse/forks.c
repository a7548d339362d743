// Processes are forked, with and without another program in them, while threads use locks and the heap. The argument says how many.
//
// NORACE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int stop;
static long total;

static void *work(void *unused) {
    while (!atomic_load(&stop)) {
        long *block = malloc(48);
        *block = 1;
        pthread_mutex_lock(&lock);
        total += *block;
        pthread_mutex_unlock(&lock);
        free(block);
    }
    return unused;
}

int main(int argc, char **argv) {
    int forks = argc > 1 ? atoi(argv[1]) : 50;
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    int good = 0;
    for (int i = 0; i < forks; i++) {
        pid_t child = fork();
        if (child == 0) {
            if (i % 2)
                execl("/bin/true", "true", (char *)NULL);
            volatile long own = 0;
            for (int k = 0; k < 1000; k++)
                own += k;
            _exit(7);
        }
        int status = 0;
        if (waitpid(child, &status, 0) == child && WIFEXITED(status))
            good += WEXITSTATUS(status) == (i % 2 ? 0 : 7);
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", good);
    return 0;
}
