/* A lock that is tried in vain makes an event of its own: on the way from it to the next try the loop's
 * branch is passed, and what the loop counts decides more. */

#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int held;
static int work, result;

static void *holder(void *unused) {
    for (int round = 0; round < 3; round++) {
        pthread_mutex_lock(&lock);
        atomic_store(&held, 1);
        for (int i = 0; i < 30; i++)
            work++;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

static void try(void) {
    int tries = 0;
    result = 1;
    while (pthread_mutex_trylock(&lock) != 0)
        tries++;
    if (tries > 2)
        work++;
    pthread_mutex_unlock(&lock);
}

int main(void) {
    pthread_t thread;
    try();
    pthread_create(&thread, 0, holder, 0);
    while (!atomic_load(&held))
        ;
    for (int round = 0; round < 4; round++)
        try();
    pthread_join(thread, 0);
    return 0;
}
