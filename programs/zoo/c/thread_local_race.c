// Thread-local is not the same as private: main gives another thread the address of its own copy.
#include <pthread.h>

_Thread_local int count;

static void *intruder(void *arg) {
    int *mains_count = arg;
    count++; // NORACE: count
    ++*mains_count; // RACE: count with line 16
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, intruder, &count);
    count++; // RACE: count with line 9
    pthread_join(thread, NULL);
    return 0;
}
