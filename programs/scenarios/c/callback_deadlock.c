// A list calls its listener with the list's lock held, and the listener takes a lock of its own; somebody else
// holds the listener's lock and changes the list. Neither function shows both locks.
//
// NORACE
#include <pthread.h>

pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t view_lock = PTHREAD_MUTEX_INITIALIZER;
int items, shown;

static void redraw(void) {
    pthread_mutex_lock(&view_lock); // DEADLOCK: waits for view_lock holding list_lock, with line 18
    shown++; // NORACE: shown
    pthread_mutex_unlock(&view_lock);
}

static void add_item(void (*listener)(void)) {
    pthread_mutex_lock(&list_lock); // DEADLOCK: waits for list_lock holding view_lock, with line 12
    items++; // NORACE: items
    if (listener)
        listener();
    pthread_mutex_unlock(&list_lock);
}

static void *adder(void *arg) {
    add_item(redraw);
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
    pthread_create(&thread, NULL, adder, NULL);
    dawdle();
    pthread_mutex_lock(&view_lock);
    add_item(NULL);
    pthread_mutex_unlock(&view_lock);
    pthread_join(thread, NULL);
    return 0;
}
