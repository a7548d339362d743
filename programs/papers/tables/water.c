// After "interleave", table 2, water-nsquared: molecules that pull at each other, every pair once. The threads share the pairs out; what a pair adds to a molecule is
// added under that molecule's lock. Between adding up and moving all meet at a barrier.
//
// Verdict: forces are added under the molecule's lock, and read and cleared by the molecule's own thread between two meetings in which nobody adds. Places change in that time only, too. The
// energy has a lock.
//
// NORACE
// EXPECT-STDOUT: the forces balance
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 256, THREADS = 2, STEPS = 2 };

typedef struct {
    pthread_mutex_t lock;
    double place, speed, force;
} Molecule;

Molecule molecules[MOST];
int count;
double energy;
pthread_mutex_t energy_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_barrier_t meeting;

static void add_force(Molecule *molecule, double pull) {
    pthread_mutex_lock(&molecule->lock);
    molecule->force += pull; // NORACE: molecules
    pthread_mutex_unlock(&molecule->lock);
}

static void pull_pairs(int me) {
    for (int i = me; i < count; i += THREADS) {
        for (int j = i + 1; j < count; j++) {
            double apart = molecules[j].place - molecules[i].place; // NORACE: molecules
            double pull = 1 / (1 + apart * apart);
            add_force(&molecules[i], pull);
            add_force(&molecules[j], -pull);
        }
    }
}

static void move(int me) {
    double mine = 0;
    for (int i = me; i < count; i += THREADS) {
        Molecule *molecule = &molecules[i];
        molecule->speed += molecule->force * 0.01; // NORACE: molecules
        molecule->place += molecule->speed * 0.01; // NORACE: molecules
        molecule->force = 0;                       // NORACE: molecules
        mine += molecule->speed * molecule->speed;
    }
    pthread_mutex_lock(&energy_lock);
    energy += mine; // NORACE: energy
    pthread_mutex_unlock(&energy_lock);
}

static void *worker(void *arg) {
    int me = *(int *)arg;
    for (int step = 0; step < STEPS; step++) {
        pull_pairs(me);
        pthread_barrier_wait(&meeting);
        move(me);
        pthread_barrier_wait(&meeting);
    }
    return NULL;
}

int main(int argc, char **argv) {
    count = argc > 1 ? atoi(argv[1]) : 5;
    if (count < 2 || count > MOST)
        return 2;
    for (int i = 0; i < count; i++) {
        pthread_mutex_init(&molecules[i].lock, NULL);
        molecules[i].place = i * 1.25;
    }
    pthread_barrier_init(&meeting, NULL, THREADS);
    pthread_t threads[THREADS];
    int names[THREADS];
    for (int i = 0; i < THREADS; i++) {
        names[i] = i;
        pthread_create(&threads[i], NULL, worker, &names[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    double momentum = 0;
    for (int i = 0; i < count; i++)
        momentum += molecules[i].speed; // NORACE: molecules
    printf("%s\n", momentum < 1e-9 && momentum > -1e-9 && energy > 0 ? "the forces balance" : "they do not");
    return 0;
}
