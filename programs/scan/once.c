// What runs once runs before everybody who came back from there.
#include <pthread.h>

pthread_once_t flag = PTHREAD_ONCE_INIT;
pthread_once_t other = PTHREAD_ONCE_INIT;
int ready, unordered, written_again;

static void prepare(void) {
    ready = 1;                      // NORACE
    unordered = 1;                  // RACE!
    written_again = 1;              // RACE!
}

static void nothing(void) {}

static void ensure(void) { pthread_once(&flag, prepare); }

static void *worker(void *unused) {
    int n = unordered;              // RACE!
    ensure();
    n += ready;                     // NORACE
    written_again = n;              // RACE!
    return unused;
}

static void *wrong(void *unused) {
    pthread_once(&other, nothing);
    written_again++;                // RACE!
    return unused;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_create(&c, 0, wrong, 0);
    pthread_once(&flag, prepare);
    int n = ready;                  // NORACE
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return n;
}
