// A node is given back to the free list and used once more by the one who gave it. Its next owner, who takes
// the only node there is, usually comes when that is over, and by way of the lock.
//
#include <pthread.h>
#include <stdbool.h>

struct node {
    int value;
} node;
bool is_free = true;
int kept;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct node *take(void) {
    pthread_mutex_lock(&lock);
    struct node *taken = is_free ? &node : NULL; // NORACE: is_free
    is_free = false; // NORACE: is_free
    pthread_mutex_unlock(&lock);
    return taken;
}

static void give_back(void) {
    pthread_mutex_lock(&lock);
    is_free = true; // NORACE: is_free
    pthread_mutex_unlock(&lock);
}

static void *careless(void *arg) {
    struct node *mine = take();
    if (mine) {
        give_back();
        kept = mine->value; // RACE: node with line 58
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
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
    pthread_create(&thread, NULL, careless, NULL);
    dawdle();
    struct node *mine = take();
    if (mine) {
        mine->value = 1; // RACE: node with line 32
        give_back();
    }
    pthread_join(thread, NULL);
    return 0;
}
