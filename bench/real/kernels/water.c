/* Molecules in a box: each pair is looked at by one thread, which adds the force to both under their locks. After
   the manner of water. */
#include "kernel.h"

#include <math.h>

enum { STEPS = 3 };

typedef struct {
    pthread_mutex_t lock;
    double at[3], speed[3], force[3];
} Molecule;

static Molecule *molecules;
static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double energy;

static double apart(double one, double other) {
    double far = one - other;
    return far - rint(far);
}

static void add(Molecule *to, const double *force, double sign) {
    pthread_mutex_lock(&to->lock);
    for (int axis = 0; axis < 3; axis++) {
        to->force[axis] += sign * force[axis];
    }
    pthread_mutex_unlock(&to->lock);
}

static double between(Molecule *one, Molecule *other) {
    double far[3], square = 1e-6;
    for (int axis = 0; axis < 3; axis++) {
        far[axis] = apart(one->at[axis], other->at[axis]);
        square += far[axis] * far[axis];
    }
    if (square > 0.04) {
        return 0;
    }
    double near = 1e-4 / square, sixth = near * near * near, strength = sixth * (sixth - 0.5);
    double force[3] = {far[0] * strength, far[1] * strength, far[2] * strength};
    add(one, force, 1);
    add(other, force, -1);
    return sixth;
}

static void *work(void *number) {
    long me = (long)number, from = first_of(size, me), to = first_of(size, me + 1);
    for (int step = 0; step < STEPS; step++) {
        double mine = 0;
        for (long at = from; at < to; at++) {
            for (long next = 1; next <= size / 2; next++) {
                long other = (at + next) % size;
                if (next * 2 < size || at < other) {
                    mine += between(&molecules[at], &molecules[other]);
                }
            }
        }
        pthread_mutex_lock(&lock);
        energy += mine;
        pthread_mutex_unlock(&lock);
#ifndef RACE
        pthread_barrier_wait(&barrier);
#endif
        for (long at = from; at < to; at++) {
            Molecule *it = &molecules[at];
            for (int axis = 0; axis < 3; axis++) {
                it->speed[axis] += it->force[axis] * 1e-3;
                it->at[axis] += it->speed[axis]; /* RACE! without the barrier */
                it->force[axis] = 0;
            }
        }
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int count, char **given) {
    arguments(count, given, 8000);
    molecules = allocated((size_t)size, sizeof *molecules);
    uint64_t state = 5;
    for (long at = 0; at < size; at++) {
        pthread_mutex_init(&molecules[at].lock, NULL);
        for (int axis = 0; axis < 3; axis++) {
            molecules[at].at[axis] = next_part(&state);
        }
    }
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    in_threads(work);
    printf("water: %d\n", isfinite(energy));
    return 0;
}
