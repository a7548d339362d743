// Threads that are created or waited for on some ways only.
#include <pthread.h>

int maybe_started, maybe_joined, in_error, wrong_handle;

static void *one(void *unused) {
    maybe_started++;                // RACE!
    return unused;
}
static void *two(void *unused) {
    maybe_joined++;                 // RACE!
    return unused;
}
static void *three(void *unused) {
    in_error++;                     // NORACE
    return unused;
}
static void *four(void *unused) {
    wrong_handle++;                 // RACE!
    return unused;
}
static void *five(void *unused) { return unused; }

int main(int count, char **arguments) {
    pthread_t a, b, c, d, e;
    (void)arguments;
    if (count > 1)
        pthread_create(&a, 0, one, 0);
    maybe_started = 1;              // RACE!
    pthread_create(&b, 0, two, 0);
    if (count > 2)
        pthread_join(b, 0);
    maybe_joined = 1;               // RACE!
    pthread_create(&c, 0, three, 0);
    if (count > 3) {
        pthread_join(c, 0);
        in_error = 1;               // NORACE
        return in_error;            // NORACE
    }
    pthread_join(c, 0);
    in_error = 2;                   // NORACE
    pthread_create(&d, 0, four, 0);
    pthread_create(&e, 0, five, 0);
    pthread_join(e, 0);
    wrong_handle = 1;               // RACE!
    return 0;
}
