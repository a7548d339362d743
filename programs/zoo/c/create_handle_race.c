// The handle of the second thread is stored while the first may be looking at it.
#include <pthread.h>

pthread_t second;
int seen;

static void *first_worker(void *arg) {
    seen = second != 0; // RACE: second with line 19
    return arg;
}

static void *second_worker(void *arg) {
    return arg;
}

int main(void) {
    pthread_t first;
    pthread_create(&first, NULL, first_worker, NULL);
    pthread_create(&second, NULL, second_worker, NULL); // RACE: second with line 8
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
