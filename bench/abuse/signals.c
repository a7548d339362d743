// A signal every millisecond while threads use locks and memory, until as many have come as the argument says.
//
// NORACE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_long came;
static long wanted, total, done;

static void handle(int number) {
    (void)number;
    atomic_fetch_add(&came, 1);
}

static void *work(void *unused) {
    long mine = 0;
    while (atomic_load(&came) < wanted) {
        long *block = malloc(64);
        *block = ++mine;
        pthread_mutex_lock(&lock);
        total += *block;
        pthread_mutex_unlock(&lock);
        free(block);
    }
    pthread_mutex_lock(&lock);
    done++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv) {
    wanted = argc > 1 ? atol(argv[1]) : 1000;
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval every = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &every, NULL);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", done);
    return 0;
}
