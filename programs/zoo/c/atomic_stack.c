// A lock-free stack: two threads push with compare-and-swap, then main takes everything at once with
// an exchange. The release of each push is what lets main read the nodes.
//
// NORACE
// EXPECT-STDOUT: sum 20
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { NODES = 5 };

struct node {
    int value;
    struct node *next;
};

_Atomic(struct node *) top;
atomic_int pushed;

static void push(struct node *node) {
    struct node *old = atomic_load_explicit(&top, memory_order_relaxed);
    do
        node->next = old; // NORACE: node->next
    while (!atomic_compare_exchange_weak_explicit(&top, &old, node, memory_order_release,
                                                  memory_order_relaxed));
}

static void *pusher(void *arg) {
    struct node *nodes = arg;
    for (int i = 0; i < NODES; i++) {
        nodes[i].value = i; // NORACE: node->value
        push(&nodes[i]);
        atomic_fetch_add_explicit(&pushed, 1, memory_order_relaxed);
    }
    return NULL;
}

int main(void) {
    struct node mine[NODES], theirs[NODES];
    pthread_t first, second;
    int sum = 0, popped = 0;
    pthread_create(&first, NULL, pusher, mine);
    pthread_create(&second, NULL, pusher, theirs);
    while (popped < 2 * NODES) {
        struct node *node = atomic_exchange_explicit(&top, NULL, memory_order_acquire);
        for (; node != NULL; node = node->next) { // NORACE: node->next
            sum += node->value; // NORACE: node->value
            popped++;
        }
    }
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("sum %d\n", sum);
    return 0;
}
