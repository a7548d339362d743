// Calls through pointers: from tables, structures and arguments; threads that run one of several functions.
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int in_table, guarded_call, chosen_a, chosen_b, never_called;

static void add(int n) {
    in_table += n;                  // RACE!
}
static void subtract(int n) {
    in_table -= n;                  // RACE!
}
static void guarded(int n) {
    guarded_call += n;              // NORACE
}
static void unused_function(int n) {
    never_called += n;              // NORACE
}

struct operations {
    void (*change)(int);
    void (*safe)(int);
};

static void (*const table[2])(int) = {add, subtract};
static const struct operations operations = {add, guarded};
static void (*spare)(int) = unused_function;

static void with_lock(void (*run)(int), int n) {
    pthread_mutex_lock(&lock);
    run(n);
    pthread_mutex_unlock(&lock);
}

static void *run_a(void *unused) {
    chosen_a++;                     // RACE!
    return unused;
}
static void *run_b(void *unused) {
    chosen_b++;                     // RACE!
    return unused;
}

static void *worker(void *argument) {
    long n = (long)argument;
    table[n & 1](1);
    operations.change(1);
    with_lock(operations.safe, 1);
    with_lock(guarded, 2);
    return 0;
}

int main(int count, char **arguments) {
    pthread_t a, b, c;
    void *(*start)(void *) = count > 1 ? run_a : run_b;
    (void)arguments;
    never_called = spare != 0;      // NORACE
    pthread_create(&a, 0, worker, (void *)1);
    pthread_create(&b, 0, worker, (void *)2);
    pthread_create(&c, 0, start, 0);
    chosen_a = 1;                   // RACE!
    chosen_b = 1;                   // RACE!
    return 0;
}
