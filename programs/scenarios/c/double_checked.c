// Double-checked locking as it should be: the pointer is atomic and published last. Who finds it uses the
// object without the lock under which it was made.
//
// NORACE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

_Atomic(int *) instance;
int seen[2];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int *get(void) {
    int *found = atomic_load_explicit(&instance, memory_order_acquire);
    if (!found) {
        pthread_mutex_lock(&lock);
        found = atomic_load_explicit(&instance, memory_order_relaxed);
        if (!found) {
            found = malloc(sizeof *found);
            *found = 5; // NORACE: *found
            atomic_store_explicit(&instance, found, memory_order_release);
        }
        pthread_mutex_unlock(&lock);
    }
    return found;
}

static void *user(void *arg) {
    seen[arg != NULL] = *get(); // NORACE: *found
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, user, NULL);
    user(&thread);
    pthread_join(thread, NULL);
    free(instance);
    return 0;
}
