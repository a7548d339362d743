// Check, let go, act: main looks under the lock whether the account is open and takes the money after the
// lock is gone. The other thread pays in under the lock, in most runs long before, and then main's look
// orders the two. It pays in whenever it likes, also while main is at its unlocked line.
//
#include <pthread.h>
#include <stdbool.h>

bool is_open = true;
int balance = 100;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *pay_in(void *arg) {
    pthread_mutex_lock(&lock);
    if (is_open) // NORACE: is_open
        balance += 10; // RACE: balance with line 41
    pthread_mutex_unlock(&lock);
    return arg;
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
    bool can_pay = is_open; // NORACE: is_open
    pthread_mutex_unlock(&lock);
    if (can_pay)
        balance -= 50; // RACE: balance with line 15
    pthread_join(thread, NULL);
    return 0;
}
