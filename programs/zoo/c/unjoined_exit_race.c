// A thread ends the process while two others, which it knows nothing of, may still run.
#include <pthread.h>
#include <stdlib.h>

int value;

static void *leaver(void *arg) {
    (void)arg;
    exit(0);
}

static void *writer(void *arg) {
    value++; // RACE: value with line 13
    return arg;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, leaver, NULL);
    pthread_create(&threads[1], NULL, writer, NULL);
    pthread_create(&threads[2], NULL, writer, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
