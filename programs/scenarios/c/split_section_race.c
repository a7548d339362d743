// Check, let go, act: main looks under the lock whether the balance suffices and takes the money after
// the lock is gone. The other thread pays in under the lock, in most runs long before, and then main's
// look at the balance orders the two. The look decides the same either way, so main can be at its
// unlocked line while the other is at its own.
//
#include <pthread.h>
#include <stdbool.h>

int balance = 100;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *pay_in(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    balance += 10; // RACE: balance with line 41
    pthread_mutex_unlock(&lock);
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
    pthread_create(&thread, NULL, pay_in, NULL);
    dawdle();
    pthread_mutex_lock(&lock);
    bool suffices = balance >= 50; // NORACE: balance
    pthread_mutex_unlock(&lock);
    if (suffices)
        balance -= 50; // RACE: balance with line 15
    pthread_join(thread, NULL);
    return 0;
}
