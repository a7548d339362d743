// Two hundred short-lived threads, each adding one without a lock.
#include <pthread.h>

enum { BATCHES = 20, BATCH = 10 };

int total;

static void *adder(void *arg) {
    (void)arg;
    total++; // RACE: total with line 10
    return NULL;
}

int main(void) {
    pthread_t threads[BATCH];
    for (int batch = 0; batch < BATCHES; batch++) {
        for (int i = 0; i < BATCH; i++)
            pthread_create(&threads[i], NULL, adder, NULL);
        for (int i = 0; i < BATCH; i++)
            pthread_join(threads[i], NULL);
    }
    return 0;
}
