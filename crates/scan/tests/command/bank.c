#include <pthread.h>
#include <stdio.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account from = {PTHREAD_MUTEX_INITIALIZER, 100};
static struct account to = {PTHREAD_MUTEX_INITIALIZER, 0};
static long transfers;

static void deposit(struct account *account, long amount)
{
    pthread_mutex_lock(&account->lock);
    account->balance += amount;
    pthread_mutex_unlock(&account->lock);
}

static void *teller(void *unused)
{
    (void)unused;
    deposit(&from, -10);
    deposit(&to, 10);
    transfers++;
    return NULL;
}

static void *auditor(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&to.lock);
    long all = to.balance;
    pthread_mutex_lock(&from.lock);
    all += from.balance;
    pthread_mutex_unlock(&from.lock);
    pthread_mutex_unlock(&to.lock);
    printf("%ld after %ld\n", all, transfers);
    return NULL;
}

static void *mover(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&from.lock);
    pthread_mutex_lock(&to.lock);
    to.balance += from.balance;
    from.balance = 0;
    pthread_mutex_unlock(&to.lock);
    pthread_mutex_unlock(&from.lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, teller, NULL);
    pthread_create(&threads[1], NULL, auditor, NULL);
    pthread_create(&threads[2], NULL, mover, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%ld %ld\n", to.balance, transfers);
    return 0;
}
