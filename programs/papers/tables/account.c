// After "maximal", table 1, account: two managers pay into accounts and transfer between them. A transfer locks the account that it takes from, and
// forgets the one that it gives to.
//
// Verdict: the giving half of a transfer holds another account's lock, or none that matters, so that it can meet whatever another thread does to that account
// under its own lock (paying in, the taking half of a transfer, the audit) and the giving half of another transfer
// from a third account. Everything else is done under the lock of its account. The rate is set and read without a lock; in a run in which the first
// manager is first, the ledger's lock comes between and happens-before takes that for an order, though each manager has a column of its own there.
//
// EXPECT-STDOUT: audited
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ACCOUNTS = 3, SHARED = 2 };

typedef struct {
    pthread_mutex_t lock;
    int balance;
} Account;

Account accounts[ACCOUNTS] = {
    {PTHREAD_MUTEX_INITIALIZER, 100},
    {PTHREAD_MUTEX_INITIALIZER, 100},
    {PTHREAD_MUTEX_INITIALIZER, 100},
};
int entries[2]; // of each manager's column in the ledger
pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
int rate;
int seen_rate;
int rounds;
int audited[ACCOUNTS];

static void pay_in(Account *account, int amount) {
    pthread_mutex_lock(&account->lock);
    account->balance += amount; // RACE: accounts with line 42
    pthread_mutex_unlock(&account->lock);
}

static void transfer(Account *from, Account *to, int amount) {
    pthread_mutex_lock(&from->lock);
    from->balance -= amount; // RACE: accounts with line 42
    to->balance += amount; // RACE: accounts with line 35, accounts with line 41, accounts with line 42, accounts with line 83
    pthread_mutex_unlock(&from->lock);
}

static void enter(int manager) {
    pthread_mutex_lock(&ledger);
    entries[manager]++; // NORACE: entries
    pthread_mutex_unlock(&ledger);
}

// Looks after the first account, and sets the rate.
static void *first_manager(void *arg) {
    (void)arg;
    rate = 3; // RACE: rate with line 68
    for (int i = 0; i < rounds; i++) {
        pay_in(&accounts[0], 10);
        transfer(&accounts[0], &accounts[SHARED], 5);
    }
    enter(0);
    return NULL;
}

// Looks after the second account, and gives to both others.
static void *second_manager(void *arg) {
    (void)arg;
    enter(1);
    seen_rate = rate; // RACE: rate with line 55
    for (int i = 0; i < rounds; i++) {
        transfer(&accounts[1], &accounts[0], 3);
        transfer(&accounts[1], &accounts[SHARED], 4);
    }
    return NULL;
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t first, second;
    pthread_create(&first, NULL, first_manager, NULL);
    pthread_create(&second, NULL, second_manager, NULL);
    for (int i = 0; i < ACCOUNTS; i++) {
        pthread_mutex_lock(&accounts[i].lock);
        audited[i] = accounts[i].balance; // RACE: accounts with line 42
        pthread_mutex_unlock(&accounts[i].lock);
    }
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("%s\n", audited[0] > 0 ? "audited" : "overdrawn");
    return 0;
}
