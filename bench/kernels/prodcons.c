// Producer and consumer: a bounded buffer of messages under one mutex and two conditions; each
// message is filled by one thread and summed up by the other.
//
// NORACE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 64, LENGTH = 32 };

static int buffer[SLOTS][LENGTH];
static int head, tail, used, messages = 50000;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;

static void *produce(void *arg) {
    (void)arg;
    for (int i = 0; i < messages; i++) {
        int message[LENGTH];
        for (int j = 0; j < LENGTH; j++)
            message[j] = i ^ j;
        pthread_mutex_lock(&lock);
        while (used == SLOTS) // NORACE: used
            pthread_cond_wait(&not_full, &lock);
        for (int j = 0; j < LENGTH; j++)
            buffer[head][j] = message[j]; // NORACE: buffer
        head = (head + 1) % SLOTS; // NORACE: head
        used++; // NORACE: used
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

static void *consume(void *arg) {
    long *sum = arg;
    for (int i = 0; i < messages; i++) {
        int message[LENGTH];
        pthread_mutex_lock(&lock);
        while (used == 0) // NORACE: used
            pthread_cond_wait(&not_empty, &lock);
        for (int j = 0; j < LENGTH; j++)
            message[j] = buffer[tail][j]; // NORACE: buffer
        tail = (tail + 1) % SLOTS; // NORACE: tail
        used--; // NORACE: used
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&lock);
        for (int j = 0; j < LENGTH; j++)
            *sum += message[j]; // NORACE: sum
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1)
        messages *= atoi(argv[1]); // NORACE: messages
    long sum = 0;
    pthread_t producer, consumer;
    pthread_create(&producer, 0, produce, 0);
    pthread_create(&consumer, 0, consume, &sum);
    pthread_join(producer, 0);
    pthread_join(consumer, 0);
    printf("%ld\n", sum);
    return 0;
}
