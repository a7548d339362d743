// A walk along a list that takes the next node's lock before it lets go of the last one's. The reader lets
// go of the last node a line too early and then reads its value. The writer walks the same way, so in
// most runs the locks order the two walks; the reader's last line can still meet the writer's.
//
#include <pthread.h>
#include <stddef.h>

struct node {
    pthread_mutex_t lock;
    int value;
    struct node *next;
};

struct node tail = {PTHREAD_MUTEX_INITIALIZER, 2, NULL};
struct node head = {PTHREAD_MUTEX_INITIALIZER, 1, &tail};
int seen;

static struct node *walk(void) {
    struct node *node = &head;
    pthread_mutex_lock(&node->lock);
    while (node->next) {
        pthread_mutex_lock(&node->next->lock);
        pthread_mutex_unlock(&node->lock);
        node = node->next;
    }
    return node;
}

static void *writer(void *arg) {
    (void)arg;
    struct node *node = walk();
    node->value = 3; // RACE: tail.value with line 56
    pthread_mutex_unlock(&node->lock);
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
    pthread_create(&thread, NULL, writer, NULL);
    dawdle();
    struct node *node = walk();
    pthread_mutex_unlock(&node->lock);
    seen = node->value; // RACE: tail.value with line 32
    pthread_join(thread, NULL);
    return 0;
}
