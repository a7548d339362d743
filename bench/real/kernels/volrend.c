/* Rays through a volume: tiles of the picture are in a queue of each thread, and who has none left takes those of
   others. After the manner of volrend. */
#include "kernel.h"

#include <math.h>

enum { VOLUME = 64, TILE = 16, FRAMES = 3 };

typedef struct {
    pthread_mutex_t lock;
    long next, end;
} Queue;

static unsigned char volume[VOLUME][VOLUME][VOLUME];
static float *picture;
static Queue queues[MOST_THREADS];
static pthread_barrier_t barrier;
static long stolen;
static pthread_mutex_t stolen_lock = PTHREAD_MUTEX_INITIALIZER;

static int take(Queue *queue, long *tile) {
#ifdef RACE
    if (queue->next >= queue->end) { /* RACE! looks before it has the lock */
        return 0;
    }
#endif
    pthread_mutex_lock(&queue->lock);
    int is_there = queue->next < queue->end;
    if (is_there) {
        *tile = queue->next++;
    }
    pthread_mutex_unlock(&queue->lock);
    return is_there;
}

static float ray(double x, double y, double angle) {
    double light = 1, colour = 0;
    for (double depth = 0; depth < VOLUME && light > 0.02; depth += 0.5) {
        double u = x * cos(angle) + (depth - VOLUME / 2.0) * sin(angle) + VOLUME / 2.0;
        double w = (depth - VOLUME / 2.0) * cos(angle) - x * sin(angle) + VOLUME / 2.0;
        int a = (int)u, b = (int)(y + VOLUME / 2.0), c = (int)w;
        if (a < 0 || b < 0 || c < 0 || a >= VOLUME || b >= VOLUME || c >= VOLUME) {
            continue;
        }
        double opacity = volume[a][b][c] / 2048.0;
        colour += light * opacity;
        light *= 1 - opacity;
    }
    return (float)colour;
}

static void draw(long tile, int frame) {
    long across = size / TILE, left = tile % across * TILE, top = tile / across * TILE;
    for (long y = top; y < top + TILE; y++) {
        for (long x = left; x < left + TILE; x++) {
            double u = ((double)x / (double)size - 0.5) * VOLUME;
            double v = ((double)y / (double)size - 0.5) * VOLUME;
            picture[y * size + x] = ray(u, v, frame * 0.3);
        }
    }
}

static void *work(void *number) {
    long me = (long)number, tiles = (size / TILE) * (size / TILE);
    for (int frame = 0; frame < FRAMES; frame++) {
        Queue *mine = &queues[me];
        pthread_mutex_lock(&mine->lock);
        mine->next = first_of(tiles, me);
        mine->end = first_of(tiles, me + 1);
        pthread_mutex_unlock(&mine->lock);
        pthread_barrier_wait(&barrier);
        long tile, taken = 0;
        for (int other = 0; other < threads; other++) {
            while (take(&queues[(me + other) % threads], &tile)) {
                draw(tile, frame);
                taken += other > 0;
            }
        }
        pthread_mutex_lock(&stolen_lock);
        stolen += taken;
        pthread_mutex_unlock(&stolen_lock);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int count, char **given) {
    arguments(count, given, 352);
    size = size / TILE * TILE + (size < TILE ? TILE : 0);
    for (int x = 0; x < VOLUME; x++) {
        for (int y = 0; y < VOLUME; y++) {
            for (int z = 0; z < VOLUME; z++) {
                double a = x - 32, b = y - 32, c = z - 32, far = sqrt(a * a + b * b + c * c);
                volume[x][y][z] = (unsigned char)(far < 24 ? (24 - far) * 9 : 0);
            }
        }
    }
    picture = allocated((size_t)(size * size), sizeof *picture);
    for (int number = 0; number < threads; number++) {
        pthread_mutex_init(&queues[number].lock, NULL);
    }
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    in_threads(work);
    double sum = 0;
    for (long at = 0; at < size * size; at++) {
        sum += picture[at];
    }
    printf("volrend: %.3f\n", sum / (double)(size * size));
    return 0;
}
