// Atomic and volatile accesses are marked: two of them do not race, one with a plain one does.
#include <pthread.h>
#include <stdatomic.h>

atomic_int counter;
volatile int flag;
int plain, builtin, half;
_Atomic long wide;

static void *worker(void *unused) {
    atomic_fetch_add(&counter, 1);  // NORACE
    flag = 1;                       // NORACE
    wide++;                         // NORACE
    __atomic_store_n(&builtin, 1, __ATOMIC_RELEASE); // NORACE
    __sync_fetch_and_add(&half, 1); // RACE!
    *(volatile int *)&plain = 1;    // RACE!
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    int n = atomic_load(&counter);  // NORACE
    n += flag;                      // NORACE
    n += wide;                      // NORACE
    n += __atomic_load_n(&builtin, __ATOMIC_ACQUIRE); // NORACE
    half++;                         // RACE!
    plain++;                        // RACE!
    pthread_join(thread, 0);
    return n;
}
