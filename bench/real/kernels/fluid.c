/* A fluid of particles in a grid of cells: threads own layers of cells, and what lies at the edge between two is
   changed under the cell's lock only. After the manner of fluidanimate. */
#include "kernel.h"

#include <math.h>

enum { SIDE = 20, ROOM = 64, STEPS = 6 };

typedef struct {
    float at[3], speed[3], force[3], density;
} Particle;

typedef struct {
    pthread_mutex_t lock;
    int many;
    Particle particles[ROOM];
} Cell;

static Cell (*now)[SIDE][SIDE], (*then)[SIDE][SIDE];
static pthread_barrier_t barrier;

static int layer(float at) {
    int which = (int)(at * SIDE);
    return which < 0 ? 0 : which >= SIDE ? SIDE - 1 : which;
}

static void put(Cell (*grid)[SIDE][SIDE], const Particle *particle) {
    Cell *cell = &grid[layer(particle->at[0])][layer(particle->at[1])][layer(particle->at[2])];
    pthread_mutex_lock(&cell->lock);
    if (cell->many < ROOM) {
        cell->particles[cell->many++] = *particle;
    }
    pthread_mutex_unlock(&cell->lock);
}

static void meet(Cell *cell, Cell *other, int is_edge, int is_force) {
    for (int i = 0; i < cell->many; i++) {
        for (int j = 0; j < other->many; j++) {
            Particle *a = &cell->particles[i], *b = &other->particles[j];
            float square = 0, apart[3];
            for (int axis = 0; axis < 3; axis++) {
                apart[axis] = a->at[axis] - b->at[axis];
                square += apart[axis] * apart[axis];
            }
            if (a == b || square * SIDE * SIDE > 1) {
                continue;
            }
            float near = 1 - square * SIDE * SIDE;
            if (is_edge) {
                pthread_mutex_lock(&cell->lock);
            }
            if (is_force) {
                for (int axis = 0; axis < 3; axis++) {
                    a->force[axis] += near * apart[axis] / (a->density + b->density);
                }
            } else {
                a->density += near * near * near;
            }
            if (is_edge) {
                pthread_mutex_unlock(&cell->lock);
            }
        }
    }
}

static void all_neighbours(int x, int y, int z, int is_edge, int is_force) {
    for (int a = x - 1; a <= x + 1; a++) {
        for (int b = y - 1; b <= y + 1; b++) {
            for (int c = z - 1; c <= z + 1; c++) {
                if (a >= 0 && b >= 0 && c >= 0 && a < SIDE && b < SIDE && c < SIDE) {
                    meet(&now[x][y][z], &now[a][b][c], is_edge, is_force);
                }
            }
        }
    }
}

static void move(Cell *cell) {
    for (int i = 0; i < cell->many; i++) {
        Particle it = cell->particles[i];
        for (int axis = 0; axis < 3; axis++) {
            it.speed[axis] = it.speed[axis] * 0.99f + it.force[axis] * 1e-3f;
            it.at[axis] = fminf(fmaxf(it.at[axis] + it.speed[axis] * 1e-2f, 0), 0.999f);
            it.force[axis] = 0;
        }
        it.density = 1;
        put(then, &it);
    }
    cell->many = 0;
}

static void *work(void *number) {
    long me = (long)number, from = first_of(SIDE, me), to = first_of(SIDE, me + 1);
    for (int step = 0; step < STEPS; step++) {
        for (int phase = 0; phase < 3; phase++) {
            for (long x = from; x < to; x++) {
                int is_edge = x == from || x == to - 1;
                for (int y = 0; y < SIDE; y++) {
                    for (int z = 0; z < SIDE; z++) {
                        if (phase == 2) {
                            move(&now[x][y][z]);
                        } else {
                            all_neighbours((int)x, y, z, is_edge, phase);
                        }
                    }
                }
            }
#ifdef RACE
            if (phase == 1) {
                continue; /* RACE! particles move while others look at them */
            }
#endif
            pthread_barrier_wait(&barrier);
        }
        if (me == 0) {
            Cell(*other)[SIDE][SIDE] = now;
            now = then;
            then = other;
        }
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int count, char **given) {
    arguments(count, given, 90000);
    now = allocated(SIDE, sizeof *now);
    then = allocated(SIDE, sizeof *then);
    for (int at = 0; at < SIDE * SIDE * SIDE; at++) {
        pthread_mutex_init(&(&now[0][0][0])[at].lock, NULL);
        pthread_mutex_init(&(&then[0][0][0])[at].lock, NULL);
    }
    uint64_t state = 31;
    for (long at = 0; at < size; at++) {
        Particle it = {.density = 1};
        for (int axis = 0; axis < 3; axis++) {
            it.at[axis] = (float)next_part(&state);
        }
        put(now, &it);
    }
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    in_threads(work);
    long left = 0;
    for (int at = 0; at < SIDE * SIDE * SIDE; at++) {
        left += (&now[0][0][0])[at].many;
    }
    printf("fluid: %d\n", left > 0 && left <= size);
    return 0;
}
