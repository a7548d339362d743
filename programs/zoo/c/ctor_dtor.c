// A thread that starts before main, in a constructor function, and is joined after main, in a
// destructor function.
//
// NORACE
// EXPECT-STDOUT: main 1
// EXPECT-STDOUT: total 11
#include <pthread.h>
#include <stdio.h>

int total;
pthread_t thread;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
    (void)arg;
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&lock);
        total++; // NORACE: total
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

__attribute__((constructor)) static void before_main(void) {
    pthread_create(&thread, NULL, worker, NULL);
}

__attribute__((destructor)) static void after_main(void) {
    pthread_join(thread, NULL);
    printf("total %d\n", total); // NORACE: total
}

int main(void) {
    pthread_mutex_lock(&lock);
    total++; // NORACE: total
    pthread_mutex_unlock(&lock);
    printf("main 1\n");
    return 0;
}
