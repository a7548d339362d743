// The walk of hand_over_hand_race.c with the value read in time. Head and tail are guarded by different locks,
// and no lock is held along the whole way; every node is used under its own.
//
// NORACE
// EXPECT-STDOUT: 2 2
#include <pthread.h>
#include <stdio.h>

struct node {
    pthread_mutex_t lock;
    int visits;
    struct node *next;
};

struct node tail = {PTHREAD_MUTEX_INITIALIZER, 0, NULL};
struct node head = {PTHREAD_MUTEX_INITIALIZER, 0, &tail};

static void *walk(void *arg) {
    struct node *node = &head;
    pthread_mutex_lock(&node->lock);
    node->visits++; // NORACE: visits
    while (node->next) {
        pthread_mutex_lock(&node->next->lock);
        pthread_mutex_unlock(&node->lock);
        node = node->next;
        node->visits++; // NORACE: visits
    }
    pthread_mutex_unlock(&node->lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, walk, NULL);
    walk(NULL);
    pthread_join(thread, NULL);
    printf("%d %d\n", head.visits, tail.visits);
    return 0;
}
