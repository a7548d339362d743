// Heap blocks made by one thread, handed over through a mutex, used and freed by another.
//
// NORACE
// EXPECT-STDOUT: sum 10
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITEMS = 5 };

struct item {
    int value;
    struct item *next;
};

struct item *list;
int made;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *maker(void *arg) {
    (void)arg;
    for (int i = 0; i < ITEMS; i++) {
        struct item *item = malloc(sizeof *item);
        item->value = i; // NORACE: item->value
        pthread_mutex_lock(&lock);
        item->next = list;
        list = item;
        made++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    int sum = 0;
    pthread_create(&thread, NULL, maker, NULL);
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&lock);
        while (list == NULL)
            pthread_cond_wait(&changed, &lock);
        struct item *item = list;
        list = item->next;
        pthread_mutex_unlock(&lock);
        sum += item->value; // NORACE: item->value
        free(item); // NORACE: *item
    }
    pthread_join(thread, NULL);
    printf("sum %d\n", sum);
    return 0;
}
