// A thread-local variable: one name, one object per thread.
//
// NORACE
// EXPECT-STDOUT: counts 10 20
#include <pthread.h>
#include <stdio.h>

_Thread_local int count;

static void add(int times) {
    for (int i = 0; i < times; i++)
        count++; // NORACE: count
}

static void *adder(void *arg) {
    int *result = arg;
    add(20);
    *result = count; // NORACE: count
    return NULL;
}

int main(void) {
    pthread_t thread;
    int other;
    pthread_create(&thread, NULL, adder, &other);
    add(10);
    pthread_join(thread, NULL);
    printf("counts %d %d\n", count, other);
    return 0;
}
