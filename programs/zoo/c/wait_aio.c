// A thread of libc's own ends a wait: asynchronous I/O that tells by a thread that it is done.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: read 4
#include <aio.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

sem_t arrived;
char buffer[4];

static void post(union sigval value) {
    (void)value;
    sem_post(&arrived);
}

static void *waiter(void *arg) {
    sem_wait(&arrived);
    return arg;
}

int main(void) {
    pthread_t thread;
    struct aiocb request;
    memset(&request, 0, sizeof request);
    sem_init(&arrived, 0, 0);
    request.aio_fildes = open("/dev/zero", O_RDONLY);
    request.aio_buf = buffer;
    request.aio_nbytes = sizeof buffer;
    request.aio_sigevent.sigev_notify = SIGEV_THREAD;
    request.aio_sigevent.sigev_notify_function = post;
    pthread_create(&thread, NULL, waiter, NULL);
    aio_read(&request);
    pthread_join(thread, NULL);
    printf("read %zd\n", aio_return(&request));
    return 0;
}
