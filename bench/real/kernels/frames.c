/* Pictures are coded in a pipeline: each thread has one, line by line, and looks into the one before as far as that
   is ready, which it waits for by a condition. After the manner of x264. SIZE is the number of pictures. */
#include "kernel.h"

enum { WIDE = 176, HIGH = 144, BLOCK = 16, REACH = 8, RING = 16 };

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t ready;
    int lines;
    long number;
    unsigned char source[HIGH][WIDE], coded[HIGH][WIDE];
} Frame;

static Frame ring[RING];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long next, bits;

static void wait_for(Frame *frame, long number, int lines) {
#ifdef RACE
    if (frame->number == number && frame->lines >= lines) { /* RACE! looks before it has the lock */
        return;
    }
#endif
    pthread_mutex_lock(&frame->lock);
    while (frame->number < number || (frame->number == number && frame->lines < lines)) {
        pthread_cond_wait(&frame->ready, &frame->lock);
    }
    pthread_mutex_unlock(&frame->lock);
}

static void is_ready(Frame *frame, int lines) {
    pthread_mutex_lock(&frame->lock);
    frame->lines = lines;
    pthread_cond_broadcast(&frame->ready);
    pthread_mutex_unlock(&frame->lock);
}

static long differs(const Frame *frame, const Frame *before, int y, int x, int v, int u) {
    long sum = 0;
    for (int i = 0; i < BLOCK; i++) {
        for (int j = 0; j < BLOCK; j++) {
            int a = frame->source[y + i][x + j], b = before->coded[v + i][u + j];
            sum += a < b ? b - a : a - b;
        }
    }
    return sum;
}

static long code_block(Frame *frame, const Frame *before, int y, int x) {
    long best = 1L << 40;
    int at_v = y, at_u = x;
    for (int v = y - REACH; before && v <= y + REACH; v += 4) {
        for (int u = x - REACH; u <= x + REACH; u += 4) {
            if (v >= 0 && u >= 0 && v + BLOCK <= HIGH && u + BLOCK <= WIDE) {
                long cost = differs(frame, before, y, x, v, u);
                if (cost < best) {
                    best = cost;
                    at_v = v;
                    at_u = u;
                }
            }
        }
    }
    for (int i = 0; i < BLOCK; i++) {
        for (int j = 0; j < BLOCK; j++) {
            int guess = before ? before->coded[at_v + i][at_u + j] : 128;
            int off = (frame->source[y + i][x + j] - guess) / 4 * 4;
            frame->coded[y + i][x + j] = (unsigned char)(guess + off);
        }
    }
    return before ? best : 0;
}

static void code(long number) {
    Frame *frame = &ring[number % RING];
    Frame *before = number > 0 ? &ring[(number - 1) % RING] : NULL;
    uint64_t state = (uint64_t)number + 1;
    /* Who comes round the ring waits until nobody needs what was there. */
    if (number >= RING) {
        wait_for(&ring[(number + 1) % RING], number - RING + 1, HIGH);
    }
    pthread_mutex_lock(&frame->lock);
    frame->number = number;
    frame->lines = 0;
    pthread_mutex_unlock(&frame->lock);
    for (int y = 0; y < HIGH; y++) {
        for (int x = 0; x < WIDE; x++) {
            long pattern = (x + number * 2) * (y + number) / 8;
            frame->source[y][x] = (unsigned char)(pattern + next_number(&state) % 4);
        }
    }
    long all = 0;
    for (int y = 0; y < HIGH; y += BLOCK) {
        int needed = y + BLOCK + REACH;
        if (before) {
            wait_for(before, number - 1, needed < HIGH ? needed : HIGH);
        }
        for (int x = 0; x < WIDE; x += BLOCK) {
            all += code_block(frame, before, y, x);
        }
        is_ready(frame, y + BLOCK);
    }
    pthread_mutex_lock(&lock);
    bits += all;
    pthread_mutex_unlock(&lock);
}

static void *work(void *number) {
    (void)number;
    for (;;) {
        pthread_mutex_lock(&lock);
        long mine = next < size ? next++ : -1;
        pthread_mutex_unlock(&lock);
        if (mine < 0) {
            return NULL;
        }
        code(mine);
    }
}

int main(int count, char **given) {
    arguments(count, given, 500);
    if (threads > RING - 2) {
        return 2;
    }
    for (int number = 0; number < RING; number++) {
        pthread_mutex_init(&ring[number].lock, NULL);
        pthread_cond_init(&ring[number].ready, NULL);
        ring[number].number = -1;
    }
    in_threads(work);
    printf("frames: %ld\n", bits);
    return 0;
}
