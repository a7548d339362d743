// Two threads raise their own flag and enter only if the other's is down. With sequentially consistent
// flags at most one of them gets in, so the counter has one user, or none.
//
// NORACE
#include <pthread.h>
#include <stdatomic.h>

int entries;
atomic_int first_flag, second_flag;

static void *second(void *arg) {
    (void)arg;
    atomic_store(&second_flag, 1);
    if (!atomic_load(&first_flag))
        entries++; // NORACE: entries
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, second, NULL);
    atomic_store(&first_flag, 1);
    if (!atomic_load(&second_flag))
        entries++; // NORACE: entries
    pthread_join(thread, NULL);
    return 0;
}
