// Destructors of thread-specific data run in the ending thread, side by side with everything else:
// this one adds to the total without a lock.
#include <pthread.h>
#include <stdlib.h>

int total;
pthread_key_t key;

static void settle(void *value) {
    int *count = value;
    total += *count; // RACE: total with line 11
    free(count);
}

static void *counter(void *arg) {
    (void)arg;
    pthread_setspecific(key, calloc(1, sizeof(int)));
    ++*(int *)pthread_getspecific(key);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_key_create(&key, settle);
    pthread_create(&first, NULL, counter, NULL);
    pthread_create(&second, NULL, counter, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
