// The ticket lock of ticket_lock.c, whose holder serves the next number before its last access. In most runs
// the next customer comes much later.
//
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

atomic_int next_ticket, now_serving;
int total, last;

static void *add(void *arg) {
    int mine = atomic_fetch_add(&next_ticket, 1);
    while (atomic_load(&now_serving) != mine)
        sched_yield();
    total++; // NORACE: total
    atomic_store(&now_serving, mine + 1);
    last = mine; // RACE: last with line 17
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
    pthread_create(&thread, NULL, add, NULL);
    dawdle();
    add(NULL);
    pthread_join(thread, NULL);
    return 0;
}
