// Double-checked locking with a plain flag: the first look races with the store under the lock. What the
// flag guards is reached only through it, so it is apart in every interleaving and races in the memory
// model only. In most runs main finds the flag up when the other is long through.
//
#include <pthread.h>
#include <stdbool.h>

bool made;
int instance, seen[2];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *user(void *arg) {
    if (!made) { // RACE: made with line 17
        pthread_mutex_lock(&lock);
        if (!made) { // NORACE: made
            instance = 5; // RACE: instance with line 21 (weak)
            made = true; // RACE: made with line 13
        }
        pthread_mutex_unlock(&lock);
    }
    seen[arg != NULL] = instance; // RACE: instance with line 16 (weak)
    return NULL;
}

static void *nothing(void *arg) {
    return arg;
}

// Meanwhile the other thread usually gets through, but nothing makes it.
static void dawdle(void) {
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, nothing, NULL);
        pthread_join(thread, NULL);
    }
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, user, NULL);
    dawdle();
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    user(&thread);
    pthread_join(thread, NULL);
    return 0;
}
