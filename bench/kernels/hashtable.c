// A hash table of words under striped locks: two threads count words; short critical sections
// over chains of heap nodes, string comparisons, allocation.
//
// NORACE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUCKETS = 4096, STRIPES = 64, WORDS = 20000, WORD = 12 };

struct node {
    struct node *next;
    unsigned count;
    char word[WORD];
};

static struct node *buckets[BUCKETS];
static pthread_mutex_t stripes[STRIPES];
static int operations = 100000;

static unsigned hash(const char *word) {
    unsigned h = 2166136261u;
    for (; *word; word++)
        h = (h ^ (unsigned char)*word) * 16777619u;
    return h;
}

static int same(const char *a, const char *b) {
    while (*a && *a == *b) // NORACE: word
        a++, b++;
    return *a == *b; // NORACE: word
}

static void count(const char *word) {
    unsigned h = hash(word) % BUCKETS;
    pthread_mutex_lock(&stripes[h % STRIPES]);
    struct node *node = buckets[h]; // NORACE: buckets
    while (node && !same(node->word, word))
        node = node->next; // NORACE: next
    if (!node) {
        node = malloc(sizeof *node);
        node->next = buckets[h]; // NORACE: next
        node->count = 0; // NORACE: count
        for (int i = 0; i < WORD; i++)
            node->word[i] = word[i]; // NORACE: word
        buckets[h] = node; // NORACE: buckets
    }
    node->count++; // NORACE: count
    pthread_mutex_unlock(&stripes[h % STRIPES]);
}

static void *work(void *arg) {
    unsigned state = 777u * (1 + (unsigned)(long)arg);
    for (int i = 0; i < operations; i++) {
        char word[WORD] = {0};
        unsigned number = (state = state * 1664525u + 1013904223u) >> 8;
        number %= WORDS;
        for (int j = 0; j < 8; j++) {
            word[j] = 'a' + number % 26;
            number = number / 26 + j;
        }
        count(word);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1)
        operations *= atoi(argv[1]);
    for (int i = 0; i < STRIPES; i++)
        pthread_mutex_init(&stripes[i], 0);
    pthread_t threads[2];
    for (long t = 0; t < 2; t++)
        pthread_create(&threads[t], 0, work, (void *)t);
    for (int t = 0; t < 2; t++)
        pthread_join(threads[t], 0);
    unsigned long total = 0;
    for (int i = 0; i < BUCKETS; i++)
        for (struct node *node = buckets[i]; node; node = node->next) // NORACE: next
            total += node->count; // NORACE: count
    printf("%lu\n", total);
    return 0;
}
