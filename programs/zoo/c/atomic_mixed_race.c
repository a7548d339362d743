// One side uses atomic operations on the flag, the other a plain read: an atomic access does not make
// the other one atomic.
#include <pthread.h>

int flag;
int seen;

static void *setter(void *arg) {
    (void)arg;
    __atomic_store_n(&flag, 1, __ATOMIC_SEQ_CST); // RACE: flag with line 17
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, setter, NULL);
    seen = flag; // RACE: flag with line 10
    pthread_join(thread, NULL);
    return 0;
}
