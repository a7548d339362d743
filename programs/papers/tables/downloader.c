// After "interleave", table 2, aget: workers fetch parts of a file and add what has come under a lock; main looks at the total without it to say how
// far it is. If all is there it says when the last byte came, and otherwise it saves how far each worker is, to resume from there.
//
// Verdict: main's look at the total meets what a worker adds. Then main goes one of two ways. That a worker moves on in its part meets main's saving of its
// offset. The worker whose block completes the total notes the time after it has given the lock back, which meets main's look at it. No run can show both: main
// looks at the total once.
//
// EXPECT-STDOUT: 12 bytes
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 3, BLOCK = 2, MOST = 1 << 16 };

typedef struct {
    int from, to;
    int offset; // what comes next
} Part;

char remote[MOST], local[MOST];
int size;
int total;
int last_byte_at;
int seen_total, seen_time;
int saved[WORKERS];
Part parts[WORKERS];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *fetch(void *arg) {
    Part *part = arg;
    while (part->offset < part->to) {
        int count = part->to - part->offset < BLOCK ? part->to - part->offset : BLOCK;
        memcpy(local + part->offset, remote + part->offset, (size_t)count); // NORACE: local, remote
        part->offset += count; // RACE: parts with line 48
        pthread_mutex_lock(&lock);
        total += count; // RACE: total with line 62
        int is_last = total == size;
        pthread_mutex_unlock(&lock);
        if (is_last)
            last_byte_at = count; // RACE: last_byte_at with line 64
    }
    return NULL;
}

// Not inlined, so that the access keeps its line.
__attribute__((noinline)) static void save(int worker) {
    saved[worker] = parts[worker].offset; // RACE: parts with line 35
}

int main(int argc, char **argv) {
    size = argc > 1 ? atoi(argv[1]) : 12;
    if (size < WORKERS || size > MOST)
        return 2;
    memset(remote, 'x', (size_t)size);
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        int from = size * i / WORKERS, to = size * (i + 1) / WORKERS;
        parts[i] = (Part){from, to, from}; // NORACE: parts
        pthread_create(&threads[i], NULL, fetch, &parts[i]);
    }
    seen_total = total; // RACE: total with line 37
    if (seen_total == size)
        seen_time = last_byte_at; // RACE: last_byte_at with line 41
    for (int i = 0; i < WORKERS && seen_total < size; i++)
        save(i);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    printf("%d bytes\n", (int)strlen(local)); // NORACE: local
    return 0;
}
