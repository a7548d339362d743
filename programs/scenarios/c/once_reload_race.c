// A configuration that is loaded once, whoever comes first. That is in order; what is not is a thread that
// then changes it in place. The second user usually comes before the change and says so under a lock.
//
#include <pthread.h>

int setting, seen, users;
pthread_once_t loaded = PTHREAD_ONCE_INIT;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void load(void) {
    setting = 1; // NORACE: setting
}

static void *user(void *arg) {
    pthread_once(&loaded, load);
    seen = setting; // RACE: setting with line 44
    pthread_mutex_lock(&lock);
    users++; // NORACE: users
    pthread_mutex_unlock(&lock);
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
    pthread_create(&thread, NULL, user, NULL);
    dawdle();
    pthread_once(&loaded, load);
    pthread_mutex_lock(&lock);
    users++; // NORACE: users
    pthread_mutex_unlock(&lock);
    setting = 2; // RACE: setting with line 16
    pthread_join(thread, NULL);
    return 0;
}
