// The thread of a constructor function still runs when the destructor function reads its result.
#include <pthread.h>

int result;
int seen;
pthread_t thread;

static void *worker(void *arg) {
    (void)arg;
    result = 42; // RACE: result with line 19
    return NULL;
}

__attribute__((constructor)) static void before_main(void) {
    pthread_create(&thread, NULL, worker, NULL);
}

__attribute__((destructor)) static void after_main(void) {
    seen = result; // RACE: result with line 10
    pthread_join(thread, NULL);
}

int main(void) {
    return 0;
}
