// Nodes go round through a free list under a lock: taken, used outside of it, given back. A node has one owner at a
// time, and different ones one after the other.
//
// NORACE
#include <pthread.h>
#include <stddef.h>

struct node {
    struct node *next;
    int value;
};

struct node nodes[2] = {{&nodes[1], 0}, {NULL, 0}};
struct node *list = &nodes[0];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct node *take(void) {
    pthread_mutex_lock(&lock);
    struct node *node = list; // NORACE: list
    list = node->next; // NORACE: list, next
    pthread_mutex_unlock(&lock);
    return node;
}

static void give_back(struct node *node) {
    pthread_mutex_lock(&lock);
    node->next = list; // NORACE: list, next
    list = node; // NORACE: list
    pthread_mutex_unlock(&lock);
}

static void *use_twice(void *arg) {
    for (int i = 0; i < 2; i++) {
        struct node *node = take();
        node->value++; // NORACE: value
        give_back(node);
    }
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, use_twice, NULL);
    use_twice(NULL);
    pthread_join(thread, NULL);
    return 0;
}
