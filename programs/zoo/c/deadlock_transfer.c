// Money moves between two accounts in both directions at once. Both threads run the same function with
// the accounts swapped, so both ends of the cycle are the same line.
//
// NORACE
// EXPECT-STDOUT: money 200
#include <pthread.h>
#include <stdio.h>

struct account {
    pthread_mutex_t lock;
    int money;
};

struct account savings = {PTHREAD_MUTEX_INITIALIZER, 100};
struct account current = {PTHREAD_MUTEX_INITIALIZER, 100};

static void transfer(struct account *from, struct account *to, int amount) {
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock); // DEADLOCK: waits for lock holding lock, with line 19
    from->money -= amount; // NORACE: money
    to->money += amount; // NORACE: money
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *back(void *arg) {
    (void)arg;
    transfer(&current, &savings, 20);
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
    pthread_create(&thread, NULL, back, NULL);
    dawdle();
    transfer(&savings, &current, 10);
    pthread_join(thread, NULL);
    printf("money %d\n", savings.money + current.money); // NORACE: money
    return 0;
}
