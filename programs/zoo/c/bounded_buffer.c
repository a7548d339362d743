// A bounded buffer with one mutex and two condition variables, one producer and two consumers.
//
// NORACE
// EXPECT-STDOUT: sum 45
#include <pthread.h>
#include <stdio.h>

enum { SIZE = 2, ITEMS = 10, CONSUMERS = 2 };

int buffer[SIZE];
int count, head, tail;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;

static void put(int item) {
    pthread_mutex_lock(&lock);
    while (count == SIZE)
        pthread_cond_wait(&not_full, &lock);
    buffer[tail] = item; // NORACE: buffer
    tail = (tail + 1) % SIZE;
    count++; // NORACE: count
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
}

static int get(void) {
    pthread_mutex_lock(&lock);
    while (count == 0)
        pthread_cond_wait(&not_empty, &lock);
    int item = buffer[head]; // NORACE: buffer
    head = (head + 1) % SIZE;
    count--; // NORACE: count
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&lock);
    return item;
}

static void *consumer(void *arg) {
    int *sum = arg;
    for (int i = 0; i < ITEMS / CONSUMERS; i++)
        *sum += get();
    return NULL;
}

int main(void) {
    pthread_t threads[CONSUMERS];
    int sums[CONSUMERS] = {0};
    for (int i = 0; i < CONSUMERS; i++)
        pthread_create(&threads[i], NULL, consumer, &sums[i]);
    for (int i = 0; i < ITEMS; i++)
        put(i);
    for (int i = 0; i < CONSUMERS; i++)
        pthread_join(threads[i], NULL);
    printf("sum %d\n", sums[0] + sums[1]);
    return 0;
}
