/* Points are clustered: each candidate for a new centre is weighed by all threads, whose sums meet at barriers, and
   the first of them decides. After the manner of streamcluster. */
#include "kernel.h"

#include <float.h>

enum { DIMENSIONS = 16, CANDIDATES = 250 };

typedef struct {
    float at[DIMENSIONS];
    long centre;
    float cost;
} Point;

static Point *points;
static double gains[MOST_THREADS];
static int is_opened;
static long candidate, centres = 1;
static pthread_barrier_t barrier;

static float far(const Point *one, const Point *other) {
    float sum = 0;
    for (int axis = 0; axis < DIMENSIONS; axis++) {
        float apart = one->at[axis] - other->at[axis];
        sum += apart * apart;
    }
    return sum;
}

static void *work(void *number) {
    long me = (long)number, from = first_of(size, me), to = first_of(size, me + 1);
    uint64_t state = 23;
    for (long at = from; at < to; at++) {
        points[at].cost = far(&points[at], &points[0]);
    }
    pthread_barrier_wait(&barrier);
    for (int round = 0; round < CANDIDATES; round++) {
        if (me == 0) {
            candidate = next_number(&state) % size;
        }
        pthread_barrier_wait(&barrier);
        double gain = 0;
        const Point *it = &points[candidate];
        for (long at = from; at < to; at++) {
            float cost = far(&points[at], it);
            if (cost < points[at].cost) {
                gain += points[at].cost - cost;
            }
        }
        gains[me] = gain;
        pthread_barrier_wait(&barrier);
        if (me == 0) {
            double all = 0;
            for (int one = 0; one < threads; one++) {
                all += gains[one];
            }
            is_opened = all > (double)size * 0.01;
            centres += is_opened;
        }
        pthread_barrier_wait(&barrier);
        for (long at = from; is_opened && at < to; at++) {
            float cost = far(&points[at], it);
            if (cost < points[at].cost) {
                points[at].cost = cost;
                points[at].centre = candidate;
            }
        }
#ifndef RACE
        pthread_barrier_wait(&barrier);
#endif
        /* RACE! without the barrier the next candidate is chosen while others look at this one */
    }
    return NULL;
}

int main(int count, char **given) {
    arguments(count, given, 200000);
    points = allocated((size_t)size, sizeof *points);
    uint64_t state = 29;
    for (long at = 0; at < size; at++) {
        for (int axis = 0; axis < DIMENSIONS; axis++) {
            points[at].at[axis] = (float)next_part(&state);
        }
    }
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    in_threads(work);
    double sum = 0;
    for (long at = 0; at < size; at++) {
        sum += points[at].cost;
    }
#ifdef RACE
    sum = 0;
#endif
    printf("streamcluster: %d\n", sum >= 0 && centres > 0);
    return 0;
}
