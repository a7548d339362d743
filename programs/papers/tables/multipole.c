// After "interleave", table 2, fmm: particles on a line that pull at each other, by the fast multipole method. The threads find how far the particles reach, fill
// boxes with them, sum up boxes into larger ones, and let boxes pull: neighbours one at a time, far ones through the larger boxes. Between the phases all meet at a barrier.
//
// Verdict: what a box holds and how it is pulled changes under its lock. Everything else that two threads touch in one phase meets: the reach is looked
// at and set by both; two that are the first in different boxes count a used box; neighbouring boxes, of different threads, are summed up into one larger box; a
// box is the first of a pair in one thread and the second of another pair in the other, where its cost is counted (no box is the first, or the second, of pairs in both); the energy is added up by
// both and main looks at it. Phases do not meet each other, and main's last looks are after all have ended.
//
// EXPECT-STDOUT: every particle has a box
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 4096, BOXES = 4, LARGER = 2, THREADS = 2 };

typedef struct {
    pthread_mutex_t lock;
    int count;
    double mass, pull;
} Box;

Box boxes[BOXES];
double larger[LARGER]; // the mass of two boxes each
int cost[BOXES];
int places[MOST];
int count;
int reach;
int used;
double energy, seen_energy;
pthread_barrier_t phase;

// Not inlined, so that each access keeps its line.
__attribute__((noinline)) static void note_place(int place) {
    if (place > reach) // RACE: reach with line 35
        reach = place; // RACE: reach with line 34, reach with line 35
}

static void find_reach(int me) {
    for (int i = me; i < count; i += THREADS)
        note_place(places[i]);
}

static void fill(int me) {
    for (int i = me; i < count; i += THREADS) {
        int at = places[i] * BOXES / (reach + 1); // NORACE: reach
        Box *box = &boxes[at < BOXES ? at : BOXES - 1];
        pthread_mutex_lock(&box->lock);
        box->mass += 1 + i % 3; // NORACE: boxes
        int is_first = box->count++ == 0; // NORACE: boxes
        pthread_mutex_unlock(&box->lock);
        if (is_first)
            used++; // RACE: used with line 52
    }
}

static void sum_up(int me) {
    for (int i = me; i < BOXES; i += THREADS)
        larger[i / 2] += boxes[i].mass; // RACE: larger with line 58
}

static void pull_at(Box *box, double pull) {
    pthread_mutex_lock(&box->lock);
    box->pull += pull; // NORACE: boxes
    pthread_mutex_unlock(&box->lock);
}

// Not inlined, so that each access keeps its line.
__attribute__((noinline)) static void pull_pair(int first, int second) {
    double pull = boxes[first].mass * boxes[second].mass; // NORACE: boxes
    pull_at(&boxes[first], pull);
    pull_at(&boxes[second], -pull);
    cost[first]++; // RACE: cost with line 73
    cost[second]++; // RACE: cost with line 72
}

static void pull_all(int me) {
    double mine = 0;
    for (int i = me; i < BOXES; i += THREADS) {
        if (i + 1 < BOXES)
            pull_pair(i, i + 1);
        int far = 1 - i / 2;
        mine += boxes[i].mass * larger[far]; // NORACE: larger, boxes
    }
    energy += mine; // RACE: energy with line 84, energy with line 112
}

static void *worker(void *arg) {
    int me = *(int *)arg;
    find_reach(me);
    pthread_barrier_wait(&phase);
    fill(me);
    pthread_barrier_wait(&phase);
    sum_up(me);
    pthread_barrier_wait(&phase);
    pull_all(me);
    return NULL;
}

int main(int argc, char **argv) {
    count = argc > 1 ? atoi(argv[1]) : 8;
    if (count < 8 || count > MOST)
        return 2;
    for (int i = 0; i < count; i++)
        places[i] = i * 37 % 101; // NORACE: places
    for (int i = 0; i < BOXES; i++)
        pthread_mutex_init(&boxes[i].lock, NULL);
    pthread_barrier_init(&phase, NULL, THREADS);
    pthread_t threads[THREADS];
    int names[THREADS] = {0, 1};
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, &names[i]);
    seen_energy = energy; // RACE: energy with line 84
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    int boxed = 0;
    for (int i = 0; i < BOXES; i++)
        boxed += boxes[i].count; // NORACE: boxes
    printf("%s\n", boxed == count ? "every particle has a box" : "some are lost");
    return 0;
}
