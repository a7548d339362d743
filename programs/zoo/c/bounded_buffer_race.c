// A bounded buffer whose consumer looks at the fill count, to keep statistics, without the mutex.
//
// EXPECT-STDOUT: sum 10
#include <pthread.h>
#include <stdio.h>

enum { SIZE = 2, ITEMS = 5 };

int buffer[SIZE];
int count, head, tail;
int highest;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;

static void *producer(void *arg) {
    (void)arg;
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&lock);
        while (count == SIZE) // NORACE: count
            pthread_cond_wait(&not_full, &lock);
        buffer[tail] = i; // NORACE: buffer
        tail = (tail + 1) % SIZE;
        count++; // RACE: count with line 36
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    int sum = 0;
    pthread_create(&thread, NULL, producer, NULL);
    for (int i = 0; i < ITEMS; i++) {
        int fill = count; // RACE: count with line 24
        if (fill > highest)
            highest = fill;
        pthread_mutex_lock(&lock);
        while (count == 0) // NORACE: count
            pthread_cond_wait(&not_empty, &lock);
        sum += buffer[head]; // NORACE: buffer
        head = (head + 1) % SIZE;
        count--; // NORACE: count
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&lock);
    }
    pthread_join(thread, NULL);
    printf("sum %d\n", sum);
    return 0;
}
