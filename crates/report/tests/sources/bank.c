#include <pthread.h>
#include <stdio.h>

static long balance = 100;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void deposit(long amount) {
    pthread_mutex_lock(&m);
    balance = balance + amount;
    pthread_mutex_unlock(&m);
}

static void fee(void) {
	balance -= 1;
}

static pthread_mutex_t a, b, c;

static void *first(void *unused) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    return unused;
}

static void *second(void *unused) {
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&c);
    return unused;
}

static void *third(void *unused) {
    pthread_mutex_lock(&c);
    pthread_mutex_lock(&a);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
    pthread_create(&threads[2], 0, third, 0);
    return 0;
}
