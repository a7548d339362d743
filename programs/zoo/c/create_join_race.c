// Main looks at the result before it has joined the thread that computes it.
#include <pthread.h>

int result;
int early, late;

static void *compute(void *arg) {
    (void)arg;
    result = 42; // RACE: result with line 16
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, compute, NULL);
    early = result; // RACE: result with line 9
    pthread_join(thread, NULL);
    late = result; // NORACE: result
    return 0;
}
