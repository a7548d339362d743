// Arrays of locks: the one of the same index guards, another one does not.
#include <pthread.h>

#define SIZE 16

struct bucket {
    pthread_mutex_t lock;
    int count;
    int wrong;
};

struct bucket buckets[SIZE];
pthread_mutex_t locks[SIZE];
int counts[SIZE];
int shifted[SIZE];

static void hit(int i) {
    pthread_mutex_lock(&buckets[i].lock);
    buckets[i].count++;             // NORACE
    pthread_mutex_unlock(&buckets[i].lock);
    pthread_mutex_lock(&locks[i]);
    counts[i]++;                    // NORACE
    pthread_mutex_unlock(&locks[i]);
}

static void miss(int i, int j) {
    pthread_mutex_lock(&buckets[i].lock);
    buckets[j].wrong++;             // RACE!
    pthread_mutex_unlock(&buckets[i].lock);
    pthread_mutex_lock(&locks[j]);
    shifted[i]++;                   // RACE!
    pthread_mutex_unlock(&locks[j]);
}

static void through_pointer(struct bucket *bucket) {
    pthread_mutex_lock(&bucket->lock);
    bucket->count--;                // NORACE
    pthread_mutex_unlock(&bucket->lock);
}

static void *worker(void *argument) {
    int from = (int)(long)argument;
    for (int i = from; i < SIZE; i++) {
        hit(i);
        miss(i, SIZE - 1 - i);
        through_pointer(&buckets[i]);
    }
    return 0;
}

int main(void) {
    pthread_t a, b;
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_init(&buckets[i].lock, 0);
        pthread_mutex_init(&locks[i], 0);
        counts[i] = 0;              // NORACE
    }
    pthread_create(&a, 0, worker, (void *)1);
    pthread_create(&b, 0, worker, (void *)2);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return counts[3];               // NORACE
}
