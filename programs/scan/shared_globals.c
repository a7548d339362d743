// Globals: written by two threads, only read, thread-local, used by one thread only.
#include <pthread.h>

int counter;
int limit = 10;
int written_early;
int used_by_main;
_Thread_local int own;
static int hidden;
const int table[3] = {1, 2, 3};

static int *address_of_hidden(void) { return &hidden; }

static void *worker(void *unused) {
    counter++;                      // RACE!
    own++;                          // NORACE
    int n = limit;                  // NORACE
    n += written_early;             // NORACE
    n += table[n % 3];              // NORACE
    *address_of_hidden() = n;       // RACE!
    return unused;
}

int main(void) {
    pthread_t thread;
    written_early = 5;              // NORACE
    used_by_main = 1;               // NORACE
    pthread_create(&thread, 0, worker, 0);
    counter++;                      // RACE!
    own = 3;                        // NORACE
    used_by_main++;                 // NORACE
    hidden = limit;                 // RACE!
    pthread_join(thread, 0);
    counter = own;                  // NORACE
    return hidden;                  // NORACE
}
