// What all pieces in C share. A piece may be used several times: `$` becomes the number of its use.
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* A call that cannot fail here. */
static void must_at(int is, const char *what, int line) {
    if (!is) {
        fprintf(stderr, "line %d: not %s (%d)\n", line, what, errno);
        _exit(3);
    }
}
#define must(is) must_at(is, #is, __LINE__)

/* The time on this clock in a while. */
static struct timespec soon(clockid_t clock) {
    struct timespec until;
    clock_gettime(clock, &until);
    until.tv_nsec += 10000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    return until;
}

/* Waits however often it is interrupted. */
static void down(sem_t *sem) {
    while (sem_wait(sem) != 0)
        must(errno == EINTR);
}

/* The set of one signal. */
static sigset_t only(int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    return set;
}

/* Handles a signal, which is let in only where a piece says so. */
static void handle(int number, void (*handler)(int)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    must(sigaction(number, &action, NULL) == 0);
}

/* Lets a signal in, or keeps it out, in this thread. */
static void mask(int how, int number) {
    sigset_t set = only(number);
    must(pthread_sigmask(how, &set, NULL) == 0);
}

/* Whether a thread is cancelled that runs this. */
static int is_cancelled(void *(*waits)(void *)) {
    pthread_t thread;
    void *result = NULL;
    must(pthread_create(&thread, NULL, waits, NULL) == 0);
    must(pthread_cancel(thread) == 0);
    must(pthread_join(thread, &result) == 0);
    return result == PTHREAD_CANCELED;
}

/* Memory that child processes share. */
static void *shared_memory(size_t size) {
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(at != MAP_FAILED);
    return at;
}

/* What a child ended with. */
static int exit_code(pid_t child) {
    int status;
    while (waitpid(child, &status, 0) != child)
        must(errno == EINTR);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A file without a name. */
static int nameless(void) {
    char name[] = "/tmp/pieceXXXXXX";
    int file = mkstemp(name);
    must(file >= 0 && unlink(name) == 0);
    return file;
}

/* A queue without a name. */
static mqd_t queue(int flags) {
    char name[40];
    static atomic_int number;
    struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 8};
    snprintf(name, sizeof name, "/piece-%d-%d", (int)getpid(), atomic_fetch_add(&number, 1));
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL | flags, 0600, &attr);
    must(queue != (mqd_t)-1 && mq_unlink(name) == 0);
    return queue;
}

static long futex(atomic_int *at, int operation, int value, const struct timespec *time) {
    return syscall(SYS_futex, at, operation, value, time, NULL, 0);
}

/* Every signal that pieces use is kept out of all threads, unless a piece lets it in. */
static void keep_signals_out(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGIO);
    sigaddset(&set, SIGCHLD);
    for (int i = 0; i < 8; i++)
        sigaddset(&set, SIGRTMIN + i);
    must(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    signal(SIGPIPE, SIG_IGN);
}
