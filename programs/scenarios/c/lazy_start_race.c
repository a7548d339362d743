// The starter writes the helper's setting after it has created it. The helper first goes through a lock, to
// count itself in, which the starter did too: in most runs the starter comes first there.
//
#include <pthread.h>

int setting, seen, members;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void count_in(void) {
    pthread_mutex_lock(&lock);
    members++; // NORACE: members
    pthread_mutex_unlock(&lock);
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

static void *helper(void *arg) {
    dawdle();
    count_in();
    seen = setting; // RACE: setting with line 38
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, helper, NULL);
    setting = 1; // RACE: setting with line 31
    count_in();
    pthread_join(thread, NULL);
    return 0;
}
