// Fields of one structure are variables of their own, also through pointers and in arrays.
#include <pthread.h>

struct inner {
    int low;
    int high;
};

struct record {
    int id;
    int hits;
    struct inner part;
    struct inner list[4];
    int tail;
};

struct record one;
struct record many[8];

static void *left(void *argument) {
    struct record *record = argument;
    record->id = 1;                 // NORACE
    record->hits++;                 // RACE!
    record->part.low = 2;           // NORACE
    record->list[1].low = 3;        // NORACE
    record->list[2].high = 3;       // RACE!
    many[2].id = 4;                 // NORACE
    many[3].hits = 4;               // RACE!
    return 0;
}

static void *right(void *argument) {
    struct record *record = argument;
    int n = record->hits;           // RACE!
    record->part.high = n;          // NORACE
    record->list[n & 3].high = n;   // RACE!
    record->tail = n;               // NORACE
    many[n & 7].hits = n;           // RACE!
    many[n & 7].tail = n;           // NORACE
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, left, &one);
    pthread_create(&b, 0, right, &one);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return one.hits;                // NORACE
}
