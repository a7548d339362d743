// A C11 mutex that one of the two threads releases a line too early.
#include <threads.h>

int total;
mtx_t lock;

static int early(void *arg) {
    (void)arg;
    mtx_lock(&lock);
    mtx_unlock(&lock);
    total++; // RACE: total with line 18
    return 0;
}

static int steady(void *arg) {
    (void)arg;
    mtx_lock(&lock);
    total++; // RACE: total with line 11
    mtx_unlock(&lock);
    return 0;
}

int main(void) {
    mtx_init(&lock, mtx_plain);
    thrd_t first, second;
    thrd_create(&first, early, NULL);
    thrd_create(&second, steady, NULL);
    thrd_join(first, NULL);
    thrd_join(second, NULL);
    return 0;
}
