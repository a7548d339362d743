// The order of creation and waiting: before, between, after; one thread after another; waiting in a called function.
#include <pthread.h>

int prepared, between, handed, left_over, nested, by_callee, detached_value, first_phase;

static void *worker(void *unused) {
    handed = prepared;              // NORACE
    between++;                      // RACE!
    return unused;
}

static void *later(void *unused) {
    handed++;                       // NORACE
    first_phase++;                  // NORACE
    return unused;
}

static void *inner(void *unused) {
    nested++;                       // RACE!
    left_over++;                    // RACE!
    return unused;
}

static void *outer(void *unused) {
    pthread_t thread;
    pthread_create(&thread, 0, inner, 0);
    nested++;                       // RACE!
    return unused;
}

static void *callee_thread(void *unused) {
    by_callee++;                    // NORACE
    return unused;
}

static void wait_for(pthread_t thread) { pthread_join(thread, 0); }
static void wait_at(pthread_t *thread) { pthread_join(*thread, 0); }

static void *loose(void *unused) {
    detached_value++;               // RACE!
    return unused;
}

int main(void) {
    pthread_t a, b, c, d, e, f;
    prepared = 1;                   // NORACE
    first_phase = 1;                // NORACE
    pthread_create(&a, 0, worker, 0);
    between = 2;                    // RACE!
    pthread_join(a, 0);
    between = 3;                    // NORACE
    pthread_create(&b, 0, later, 0);
    pthread_join(b, 0);
    first_phase = 2;                // NORACE
    pthread_create(&c, 0, outer, 0);
    pthread_join(c, 0);
    left_over = 1;                  // RACE!
    pthread_create(&d, 0, callee_thread, 0);
    wait_for(d);
    by_callee = 4;                  // NORACE
    pthread_create(&e, 0, callee_thread, 0);
    wait_at(&e);
    by_callee = 5;                  // NORACE
    pthread_create(&f, 0, loose, 0);
    pthread_detach(f);
    detached_value = 6;             // RACE!
    return handed;                  // NORACE
}
