// Two threads answer, each on a connection of its own: what one of them has sent says nothing to the
// other, so both may count at once.
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

enum { THREADS = 2 };

int count;
int ends[THREADS][2];

static void *answerer(void *arg) {
    int end = *(int *)arg;
    char token;
    if (read(end, &token, 1) != 1)
        return arg;
    count++; // RACE: count with line 17
    return write(end, &token, 1) == 1 ? NULL : arg;
}

int main(void) {
    pthread_t threads[THREADS];
    char token = 'x';
    for (int i = 0; i < THREADS; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]) != 0)
            return 1;
        pthread_create(&threads[i], NULL, answerer, &ends[i][1]);
    }
    for (int i = 0; i < THREADS; i++)
        if (write(ends[i][0], &token, 1) != 1)
            return 1;
    for (int i = 0; i < THREADS; i++) {
        if (read(ends[i][0], &token, 1) != 1)
            return 1;
        pthread_join(threads[i], NULL);
    }
    return 0;
}
