// In each round a new block; the one of the round before is known to others already.
#include <pthread.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

struct node *newest;

static void *reader(void *unused) {
    struct node *node = newest;     // RACE!
    return node ? (void *)(long)node->value : unused; // RACE!
}

int main(void) {
    pthread_t thread;
    struct node *before = 0;
    pthread_create(&thread, 0, reader, 0);
    for (int i = 0; i < 3; i++) {
        struct node *node = malloc(sizeof *node);
        if (before)
            before->value = i;      // RACE!
        node->value = i;            // NORACE
        newest = node;              // RACE!
        before = node;
    }
    return 0;
}
