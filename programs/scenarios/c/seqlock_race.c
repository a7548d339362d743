// A sequence lock with plain data: the reader reads without asking and throws away what it has read when
// the count has moved. It never uses a torn value, so the race is meant to be benign, but a race it is.
//
#include <pthread.h>
#include <stdatomic.h>

atomic_uint sequence;
int data, copy, good;

static void *writer(void *arg) {
    atomic_fetch_add(&sequence, 1);
    data = 1; // RACE: data with line 35
    atomic_fetch_add(&sequence, 1);
    return arg;
}

static void *nothing(void *arg) {
    return arg;
}

// Meanwhile the other thread usually gets through, but nothing makes it.
static void dawdle(void) {
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, nothing, NULL);
        pthread_join(thread, NULL);
    }
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, writer, NULL);
    dawdle();
    unsigned before = atomic_load(&sequence);
    copy = data; // RACE: data with line 12
    unsigned after = atomic_load(&sequence);
    good = before == after && before % 2 == 0;
    pthread_join(thread, NULL);
    return 0;
}
