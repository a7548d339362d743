// What is written before anybody else knows it, and what is written after.
#include <pthread.h>
#include <stdlib.h>

struct node {
    int value;
    int late;
    struct node *next;
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct node *list;
struct node *bare;
struct node *kept;

static void push(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;            // NORACE
    node->late = 0;                 // NORACE
    pthread_mutex_lock(&lock);
    node->next = list;              // NORACE
    list = node;                    // NORACE
    pthread_mutex_unlock(&lock);
    node->late = 1;                 // RACE!
}

static int pop(void) {
    pthread_mutex_lock(&lock);
    struct node *node = list;       // NORACE
    int sum = 0;
    if (node) {
        list = node->next;          // NORACE
        sum = node->value;          // NORACE
        sum += node->late;          // RACE!
    }
    pthread_mutex_unlock(&lock);
    return sum;
}

static void chosen(int n) {
    struct node *a = malloc(sizeof *a);
    struct node *b = malloc(sizeof *b);
    struct node *shown = n ? a : b;
    kept = shown;                   // RACE!
    a->value = 1;                   // RACE!
    b->value = 2;                   // RACE!
}

static void *worker(void *unused) {
    pop();
    push(2);
    struct node *node = bare;       // RACE!
    if (node)
        node->value++;              // NORACE
    node = kept;                    // RACE!
    if (node)
        node->value++;              // RACE!
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    push(1);
    pop();
    bare = malloc(sizeof *bare);    // RACE!
    chosen(3);
    pthread_join(thread, 0);
    struct node *last = 0;
    for (int i = 0; i < 3; i++) {
        struct node *node = malloc(sizeof *node);
        node->next = last;          // NORACE
        last = node;
    }
    return 0;
}
