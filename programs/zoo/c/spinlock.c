// A POSIX spin lock, taken outright by one thread and by trying by the other.
//
// NORACE
// EXPECT-STDOUT: total 20
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { ROUNDS = 10 };

int total;
pthread_spinlock_t lock;

static void *adder(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_spin_lock(&lock);
        total++; // NORACE: total
        pthread_spin_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    pthread_t thread;
    pthread_create(&thread, NULL, adder, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        while (pthread_spin_trylock(&lock) != 0)
            sched_yield();
        total++; // NORACE: total
        pthread_spin_unlock(&lock);
    }
    pthread_join(thread, NULL);
    printf("total %d\n", total);
    pthread_spin_destroy(&lock);
    return 0;
}
