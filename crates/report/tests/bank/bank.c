#include <assert.h>
#include <pthread.h>
#include <stdio.h>

struct account {
    pthread_mutex_t guard;
    long balance;
};

static struct account accounts[2] = {
    {PTHREAD_MUTEX_INITIALIZER, 100},
    {PTHREAD_MUTEX_INITIALIZER, 100},
};
static long audited;

static void transfer(struct account *from, struct account *to, long amount) {
    pthread_mutex_lock(&from->guard);
    from->balance -= amount;
    pthread_mutex_lock(&to->guard);
    to->balance += amount;
    pthread_mutex_unlock(&to->guard);
    pthread_mutex_unlock(&from->guard);
}

static void *clerk(void *unused) {
    transfer(&accounts[0], &accounts[1], 10);
    pthread_mutex_lock(&accounts[0].guard);
    audited = accounts[0].balance + accounts[1].balance;
    pthread_mutex_unlock(&accounts[0].guard);
    return unused;
}

static void *teller(void *unused) {
    transfer(&accounts[1], &accounts[0], 20);
    return unused;
}

int main(void) {
    pthread_t clerks, tellers;
    pthread_create(&clerks, NULL, clerk, NULL);
    pthread_create(&tellers, NULL, teller, NULL);
    pthread_join(clerks, NULL);
    pthread_join(tellers, NULL);
    assert(audited == 200);
    printf("%ld\n", audited);
    return 0;
}
