// A library without main: others may call any of its functions at any time, with the same objects.
#include <pthread.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    long balance;
    long unguarded;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static int opened;
static int statistics;

struct account *account_open(void) {
    struct account *account = malloc(sizeof *account);
    pthread_mutex_init(&account->lock, 0);
    account->balance = 0;           // NORACE
    account->unguarded = 0;         // NORACE
    pthread_mutex_lock(&table_lock);
    opened++;                       // NORACE
    pthread_mutex_unlock(&table_lock);
    return account;
}

void account_deposit(struct account *account, long amount) {
    pthread_mutex_lock(&account->lock);
    account->balance += amount;     // NORACE
    pthread_mutex_unlock(&account->lock);
    statistics++;                   // RACE!
}

long account_balance(struct account *account) {
    pthread_mutex_lock(&account->lock);
    long balance = account->balance; // NORACE
    pthread_mutex_unlock(&account->lock);
    account->unguarded++;           // RACE!
    return balance;
}

int account_local(void) {
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    static int calls;
    int here = 0;
    pthread_mutex_lock(&own);
    calls++;                        // RACE!
    here++;                         // NORACE
    pthread_mutex_unlock(&own);
    return here;
}

static int by_any_lock;

void account_touch(struct account *account) {
    pthread_mutex_lock(&account->lock);
    by_any_lock++;                  // RACE!
    pthread_mutex_unlock(&account->lock);
}
