// After "maximal", table 1, bbuffer: two producers, two consumers, a buffer of two places under a lock with two conditions, and figures about it that nobody
// locks.
//
// Verdict: the buffer itself is always under its lock. What is counted after the lock is given back can meet the same count of the other producer (or
// consumer) and main's look at it. A producer also looks at the fill without the lock, which meets both its changes; two producers that both find more in the buffer than
// ever before set the mark side by side, and one can look at it while the other sets it. Main's last look is after all have ended.
//
// EXPECT-STDOUT: 8 through the buffer
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLACES = 2, PRODUCERS = 2, CONSUMERS = 2 };

int places[PLACES];
int fill;
int next_in, next_out;
int sum;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;

// Figures.
int put_count;
int taken_count;
int most_ever;
int seen_put, seen_taken;
int each;

static void put(int value) {
    pthread_mutex_lock(&lock);
    while (fill == PLACES)
        pthread_cond_wait(&not_full, &lock);
    places[next_in] = value; // NORACE: places
    next_in = (next_in + 1) % PLACES;
    fill++; // RACE: fill with line 59
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
}

static int take(void) {
    pthread_mutex_lock(&lock);
    while (fill == 0)
        pthread_cond_wait(&not_empty, &lock);
    int value = places[next_out]; // NORACE: places
    next_out = (next_out + 1) % PLACES;
    sum += value; // NORACE: sum
    fill--; // RACE: fill with line 59
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&lock);
    return value;
}

static void *producer(void *arg) {
    (void)arg;
    for (int i = 0; i < each; i++) {
        put(1);
        put_count++; // RACE: put_count with line 58, put_count with line 82
        int now = fill; // RACE: fill with line 36, fill with line 48
        if (now > most_ever) // RACE: most_ever with line 61
            most_ever = now; // RACE: most_ever with line 60, most_ever with line 61
    }
    return NULL;
}

static void *consumer(void *arg) {
    (void)arg;
    for (int i = 0; i < each; i++) {
        take();
        taken_count++; // RACE: taken_count with line 70, taken_count with line 83
    }
    return NULL;
}

int main(int argc, char **argv) {
    each = argc > 1 ? atoi(argv[1]) : 4;
    pthread_t producers[PRODUCERS], consumers[CONSUMERS];
    for (int i = 0; i < PRODUCERS; i++)
        pthread_create(&producers[i], NULL, producer, NULL);
    for (int i = 0; i < CONSUMERS; i++)
        pthread_create(&consumers[i], NULL, consumer, NULL);
    seen_put = put_count; // RACE: put_count with line 58
    seen_taken = taken_count; // RACE: taken_count with line 70
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i], NULL);
    for (int i = 0; i < CONSUMERS; i++)
        pthread_join(consumers[i], NULL);
    printf("%d through the buffer\n", sum); // NORACE: sum
    return 0;
}
