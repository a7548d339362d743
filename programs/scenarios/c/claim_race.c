// Workers claim a cell by reading an atomic index and storing the next one: two steps, each atomic, but both
// can read the same index and own the same cell. When one comes after the other, they own different
// cells, so the race needs another path than the one that most runs take: one run of that kind shows
// two cells.
//
#include <pthread.h>
#include <stdatomic.h>

atomic_int next;
int cells[2];

static void *work(void *arg) {
    int mine = atomic_load(&next);
    atomic_store(&next, mine + 1);
    cells[mine]++; // RACE: cells with line 15
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
    pthread_create(&thread, NULL, work, NULL);
    dawdle();
    work(NULL);
    pthread_join(thread, NULL);
    return 0;
}
