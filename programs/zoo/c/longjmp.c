// Both threads leave nested calls with longjmp, over and over; afterwards their call stacks must be
// what they were. The failures are counted under a mutex.
//
// NORACE
// EXPECT-STDOUT: failures 20
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>

enum { ROUNDS = 10, DEPTH = 5 };

int failures;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void descend(jmp_buf *surface, int depth) {
    if (depth < DEPTH)
        descend(surface, depth + 1);
    else if (depth == DEPTH)
        longjmp(*surface, 1);
}

static void attempt(void) {
    jmp_buf surface;
    if (setjmp(surface) == 0) {
        descend(&surface, 0);
        return;
    }
    pthread_mutex_lock(&lock);
    failures++; // NORACE: failures
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++)
        attempt();
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, worker, NULL);
    pthread_create(&second, NULL, worker, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("failures %d\n", failures);
    return 0;
}
