// Transfers between accounts in both directions that take the two locks in the order of their addresses: the
// function has the locks in either order, the program never has.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: money 200
#include <pthread.h>
#include <stdio.h>

struct account {
    pthread_mutex_t lock;
    int money;
} accounts[2] = {{PTHREAD_MUTEX_INITIALIZER, 100}, {PTHREAD_MUTEX_INITIALIZER, 100}};

static void transfer(struct account *from, struct account *to, int amount) {
    struct account *first = from < to ? from : to;
    struct account *second = from < to ? to : from;
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    from->money -= amount; // NORACE: money
    to->money += amount; // NORACE: money
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
}

static void *back(void *arg) {
    transfer(&accounts[1], &accounts[0], 20);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, back, NULL);
    transfer(&accounts[0], &accounts[1], 10);
    pthread_join(thread, NULL);
    printf("money %d\n", accounts[0].money + accounts[1].money);
    return 0;
}
