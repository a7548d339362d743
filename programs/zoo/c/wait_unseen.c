// Who ends a wait is not among the recorded threads: a child at a futex, a thread of libc's own that notifies a condition, one that
// writes a list of requests.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: woken, notified, written
#define _GNU_SOURCE
#include <aio.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int is_notified;

static void notify(union sigval value) {
    (void)value;
    pthread_mutex_lock(&lock);
    is_notified = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void *waiter(void *arg) {
    pthread_mutex_lock(&lock);
    while (!is_notified) // NORACE: is_notified
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    atomic_int *word = mmap(NULL, sizeof *word, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 8};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify};
    char name[40], file[] = "/tmp/unseenXXXXXX";
    pthread_t thread;
    pid_t child = fork();
    if (child == 0) {
        atomic_store(word, 1);
        syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
        _exit(0);
    }
    while (!atomic_load(word))
        syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL, NULL, 0);
    waitpid(child, NULL, 0);
    snprintf(name, sizeof name, "/unseen-%d", (int)getpid());
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
    if (queue == (mqd_t)-1 || mq_unlink(name) != 0 || mq_notify(queue, &event) != 0)
        return 1;
    pthread_create(&thread, NULL, waiter, NULL);
    mq_send(queue, "x", 1, 0);
    pthread_join(thread, NULL);
    struct aiocb one = {.aio_buf = name, .aio_nbytes = 1, .aio_lio_opcode = LIO_WRITE};
    struct aiocb *all[1] = {&one};
    if ((one.aio_fildes = mkstemp(file)) < 0 || unlink(file) != 0)
        return 1;
    lio_listio(LIO_WAIT, all, 1, NULL);
    if (aio_return(&one) == 1)
        puts("woken, notified, written");
    return 0;
}
