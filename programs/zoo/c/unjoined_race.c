// Two threads that nobody joins, and that may not have run when main returns: they race all the same.
#include <pthread.h>

int value;
int copy;

static void *writer(void *arg) {
    value = 1; // RACE: value with line 13
    return arg;
}

static void *reader(void *arg) {
    copy = value; // RACE: value with line 8
    return arg;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, writer, NULL);
    pthread_create(&other, NULL, reader, NULL);
    return 0;
}
