/* N bodies with a tree: threads hang their bodies into one tree of cells, each with a lock, and walk it for forces.
   After the manner of Barnes and Hut. */
#include "kernel.h"

#include <math.h>
#include <stdatomic.h>

enum { STEPS = 3 };

typedef struct {
    double at[2], speed[2], force[2], mass;
} Body;

typedef struct Cell {
    pthread_mutex_t lock;
    double middle[2], half;
    struct Cell *parts[4];
    Body *body;
    int is_leaf;
    double mass, centre[2];
} Cell;

static Body *bodies;
static Cell *cells;
static long most_cells;
static atomic_long made;
static pthread_barrier_t barrier;

static Cell *new_cell(double x, double y, double half) {
    long number = atomic_fetch_add(&made, 1);
    if (number >= most_cells) {
        exit(4);
    }
    Cell *cell = &cells[number];
    pthread_mutex_init(&cell->lock, NULL);
    cell->middle[0] = x;
    cell->middle[1] = y;
    cell->half = half;
    memset(cell->parts, 0, sizeof cell->parts);
    cell->body = NULL;
    cell->is_leaf = 1;
    cell->mass = cell->centre[0] = cell->centre[1] = 0;
    return cell;
}

static Cell *part(Cell *cell, const Body *body) {
    int which = (body->at[0] > cell->middle[0]) + 2 * (body->at[1] > cell->middle[1]);
    if (cell->parts[which] == NULL) {
        double half = cell->half / 2;
        double x = cell->middle[0] + (which & 1 ? half : -half);
        double y = cell->middle[1] + (which & 2 ? half : -half);
        cell->parts[which] = new_cell(x, y, half);
    }
    return cell->parts[which];
}

static void hang(Cell *cell, Body *body) {
    for (;;) {
        pthread_mutex_lock(&cell->lock);
        if (cell->is_leaf && cell->body == NULL) {
            cell->body = body;
            pthread_mutex_unlock(&cell->lock);
            return;
        }
        if (cell->is_leaf && cell->half < 1e-9) {
            cell->body->mass += body->mass;
            pthread_mutex_unlock(&cell->lock);
            return;
        }
        if (cell->is_leaf) {
            Body *other = cell->body;
            cell->is_leaf = 0;
            cell->body = NULL;
            part(cell, other)->body = other;
        }
        Cell *next = part(cell, body);
        pthread_mutex_unlock(&cell->lock);
        cell = next;
    }
}

static void sum_up(Cell *cell) {
    if (cell->is_leaf) {
        if (cell->body != NULL) {
            cell->mass = cell->body->mass;
            memcpy(cell->centre, cell->body->at, sizeof cell->centre);
        }
        return;
    }
    for (int which = 0; which < 4; which++) {
        Cell *below = cell->parts[which];
        if (below == NULL) {
            continue;
        }
        sum_up(below);
        for (int axis = 0; axis < 2; axis++) {
            double both = cell->centre[axis] * cell->mass + below->centre[axis] * below->mass;
            cell->centre[axis] = both / (cell->mass + below->mass);
        }
        cell->mass += below->mass;
    }
}

static void pull(const Cell *cell, Body *body) {
    double x = cell->centre[0] - body->at[0], y = cell->centre[1] - body->at[1];
    double apart = x * x + y * y + 1e-4;
    if (cell->is_leaf || cell->half * cell->half * 16 < apart) {
        double strength = cell->mass / (apart * sqrt(apart));
        body->force[0] += x * strength;
        body->force[1] += y * strength;
        return;
    }
    for (int which = 0; which < 4; which++) {
        if (cell->parts[which] != NULL) {
            pull(cell->parts[which], body);
        }
    }
}

#ifdef RACE
static long moved;
#endif

static void *work(void *number) {
    long me = (long)number, from = first_of(size, me), to = first_of(size, me + 1);
    for (int step = 0; step < STEPS; step++) {
        if (me == 0) {
            atomic_store(&made, 0);
            new_cell(0.5, 0.5, 64);
        }
        pthread_barrier_wait(&barrier);
        for (long at = from; at < to; at++) {
            hang(&cells[0], &bodies[at]);
        }
        pthread_barrier_wait(&barrier);
        if (me == 0) {
            sum_up(&cells[0]);
        }
        pthread_barrier_wait(&barrier);
        for (long at = from; at < to; at++) {
            bodies[at].force[0] = bodies[at].force[1] = 0;
            pull(&cells[0], &bodies[at]);
        }
        pthread_barrier_wait(&barrier);
        for (long at = from; at < to; at++) {
            for (int axis = 0; axis < 2; axis++) {
                bodies[at].speed[axis] += bodies[at].force[axis] * 1e-6;
                bodies[at].at[axis] += bodies[at].speed[axis];
            }
        }
#ifdef RACE
        moved += to - from; /* RACE! nobody has a lock for it */
#endif
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int count, char **given) {
    arguments(count, given, 24000);
    most_cells = size * 8 + 1000;
    bodies = allocated((size_t)size, sizeof *bodies);
    cells = allocated((size_t)most_cells, sizeof *cells);
    uint64_t state = 7;
    for (long at = 0; at < size; at++) {
        bodies[at].at[0] = next_part(&state);
        bodies[at].at[1] = next_part(&state);
        bodies[at].mass = 1 + next_part(&state);
    }
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    in_threads(work);
    double sum = 0;
    for (long at = 0; at < size; at++) {
        sum += bodies[at].at[0];
    }
    printf("barnes: %.3f\n", sum / (double)size);
    return 0;
}
