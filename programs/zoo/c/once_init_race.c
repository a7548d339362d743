// The routine of `pthread_once` writes what main writes, too.
#include <pthread.h>

pthread_once_t once = PTHREAD_ONCE_INIT;
int value;

static void init(void) {
    value = 1; // RACE: value with line 20
}

static void *worker(void *arg) {
    pthread_once(&once, init);
    return arg;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, worker, NULL);
    pthread_create(&second, NULL, worker, NULL);
    value = 2; // RACE: value with line 8
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
