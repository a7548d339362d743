// `pthread_create` stores the new thread's handle before that starts, so it may look at it.
//
// NORACE
// EXPECT-STDOUT: same 1
#include <pthread.h>
#include <stdio.h>

pthread_t thread;
int same;

static void *worker(void *arg) {
    same = pthread_equal(thread, pthread_self()) != 0; // NORACE: thread
    return arg;
}

int main(void) {
    pthread_create(&thread, NULL, worker, NULL); // NORACE: thread
    pthread_join(thread, NULL);
    printf("same %d\n", same);
    return 0;
}
