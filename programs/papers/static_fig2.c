// From "static", figure 2: disjoint locksets are not enough, the order of taking them counts.
//
// Main writes x holding lk1, after taking and releasing lk2 inside. The other thread writes x three
// times holding lk2: before, and after, taking and releasing lk1 inside, and once more in a second
// critical section.
//
// Verdict: main at its write holds lk1 and has let lk2 go. The other thread can reach its first write
// (it needs only lk2) and its third (lk2 taken anew, after lk1 was used and released before main took
// it): two races. Its second write needs lk1 taken and released while lk2 is held throughout; main
// would have had to take lk1 after that, and then cannot get through lk2: no race. The opposite
// nesting also deadlocks when each thread holds its outer lock and asks for its inner one.
#include <pthread.h>

int x, y, a, b;
pthread_mutex_t lk1 = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t lk2 = PTHREAD_MUTEX_INITIALIZER;

static void *second(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lk2);
    x = 0; // RACE: x with line 55
    pthread_mutex_lock(&lk1); // DEADLOCK: waits for lk1 holding lk2, with line 52
    b = 2;
    pthread_mutex_unlock(&lk1);
    x = 2; // NORACE: x
    pthread_mutex_unlock(&lk2);
    pthread_mutex_lock(&lk2);
    x = 1; // RACE: x with line 55
    pthread_mutex_unlock(&lk2);
    return NULL;
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
    pthread_create(&thread, NULL, second, NULL);
    dawdle();
    a = 1;
    pthread_mutex_lock(&lk1);
    pthread_mutex_lock(&lk2); // DEADLOCK: waits for lk2 holding lk1, with line 22
    y = 1;
    pthread_mutex_unlock(&lk2);
    x = 3; // RACE: x with line 21, x with line 28
    pthread_mutex_unlock(&lk1);
    pthread_join(thread, NULL);
    return 0;
}
