// Two C11 mutexes taken in opposite orders.
//
// NORACE
#include <threads.h>

int total;
mtx_t a, b;

static int b_then_a(void *arg) {
    (void)arg;
    mtx_lock(&b);
    mtx_lock(&a); // DEADLOCK: waits for a holding b, with line 39
    total++; // NORACE: total
    mtx_unlock(&a);
    mtx_unlock(&b);
    return 0;
}

static int nothing(void *arg) {
    return arg != NULL;
}

// Meanwhile the other thread usually gets through, but nothing makes it.
static void dawdle(void) {
    for (int i = 0; i < 5; i++) {
        thrd_t thread;
        thrd_create(&thread, nothing, NULL);
        thrd_join(thread, NULL);
    }
}

int main(void) {
    mtx_init(&a, mtx_plain);
    mtx_init(&b, mtx_plain);
    thrd_t thread;
    thrd_create(&thread, b_then_a, NULL);
    dawdle();
    mtx_lock(&a);
    mtx_lock(&b); // DEADLOCK: waits for b holding a, with line 12
    total++; // NORACE: total
    mtx_unlock(&b);
    mtx_unlock(&a);
    thrd_join(thread, NULL);
    return 0;
}
