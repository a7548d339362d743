// The sender changes the value once more after it has sent its token through the pipe.
#include <pthread.h>
#include <unistd.h>

int value;
int seen;
int ends[2];

static void *sender(void *arg) {
    value = 41; // NORACE: value
    char token = 'x';
    if (write(ends[1], &token, 1) != 1)
        return arg;
    value = 42; // RACE: value with line 25
    return NULL;
}

int main(void) {
    pthread_t thread;
    char token;
    if (pipe(ends) != 0)
        return 1;
    pthread_create(&thread, NULL, sender, NULL);
    if (read(ends[0], &token, 1) == 1)
        seen = value; // RACE: value with line 14
    pthread_join(thread, NULL);
    return 0;
}
