// Cycles of three and four locks, in functions that are called, in objects; readers that do not wait for each other.
#include <pthread.h>

struct account {
    pthread_mutex_t lock;
    int money;
};

pthread_mutex_t a, b, c;
pthread_mutex_t p, q, r, s;
pthread_rwlock_t x, y;
struct account mine, yours;
pthread_mutex_t forks[5];

static void nested(pthread_mutex_t *outer, pthread_mutex_t *inner) {
    pthread_mutex_lock(outer);
    pthread_mutex_lock(inner);      // DEADLOCK!
    pthread_mutex_unlock(inner);
    pthread_mutex_unlock(outer);
}

static void nested_four(pthread_mutex_t *outer, pthread_mutex_t *inner) {
    pthread_mutex_lock(outer);
    pthread_mutex_lock(inner);      // DEADLOCK!
    pthread_mutex_unlock(inner);
    pthread_mutex_unlock(outer);
}

static void move(struct account *from, struct account *to) {
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);  // DEADLOCK!
    from->money--;                  // NORACE
    to->money++;                    // NORACE
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void readers(pthread_rwlock_t *outer, pthread_rwlock_t *inner) {
    pthread_rwlock_rdlock(outer);
    pthread_rwlock_rdlock(inner);   // NODEADLOCK
    pthread_rwlock_unlock(inner);
    pthread_rwlock_unlock(outer);
}

static void *one(void *unused) {
    nested(&a, &b);
    nested_four(&p, &q);
    move(&mine, &yours);
    readers(&x, &y);
    return unused;
}
static void *two(void *unused) {
    nested(&b, &c);
    nested_four(&q, &r);
    move(&yours, &mine);
    readers(&y, &x);
    return unused;
}
static void *three(void *unused) {
    nested(&c, &a);
    nested_four(&r, &s);
    return unused;
}
static void *four(void *unused) {
    nested_four(&s, &p);
    return unused;
}

static void *philosopher(void *argument) {
    long seat = (long)argument;
    pthread_mutex_lock(&forks[seat]);
    pthread_mutex_lock(&forks[(seat + 1) % 5]); // DEADLOCK!
    pthread_mutex_unlock(&forks[(seat + 1) % 5]);
    pthread_mutex_unlock(&forks[seat]);
    return 0;
}

int main(void) {
    pthread_t threads[9];
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, two, 0);
    pthread_create(&threads[2], 0, three, 0);
    pthread_create(&threads[3], 0, four, 0);
    for (long i = 0; i < 5; i++)
        pthread_create(&threads[4 + i], 0, philosopher, (void *)i);
    pthread_exit(0);
}
