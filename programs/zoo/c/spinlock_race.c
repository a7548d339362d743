// The counter is changed under the spin lock but read again after the lock is gone.
#include <pthread.h>

int total;
int seen;
pthread_spinlock_t lock;

static void *adder(void *arg) {
    (void)arg;
    pthread_spin_lock(&lock);
    total++; // RACE: total with line 23
    pthread_spin_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    pthread_t thread;
    pthread_create(&thread, NULL, adder, NULL);
    pthread_spin_lock(&lock);
    total++; // NORACE: total
    pthread_spin_unlock(&lock);
    seen = total; // RACE: total with line 11
    pthread_join(thread, NULL);
    return 0;
}
