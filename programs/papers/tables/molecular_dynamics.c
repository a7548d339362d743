// After "maximal", table 1, moldyn: particles on a line. In every step the threads find forces, each for pairs of its own into a row of its own, meet at a barrier, and
// move the particles that are theirs by the sum of all rows. The second barrier of the step is missing.
//
// Verdict: between two meetings each thread moves particles and then finds forces for the next step, while another may still move: its look at a position
// meets the change of that position, and clearing its row meets the other's sum over all rows; so does what a pair adds to a particle of the other thread. (The
// first particle of a pair is the thread's own, and only the thread itself sums up its forces. Two moves or two fillings never meet.) The energy is added up without a lock,
// and the first thread looks at it meanwhile. The last step's are read after all have ended.
//
// EXPECT-STDOUT: moving
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 2048, STEPS = 2, THREADS = 2 };

double place[MOST];
double speed[MOST];
double force[THREADS][MOST];
double energy;
double seen_energy;
int count;
pthread_barrier_t meeting;

// Forces of the pairs whose first particle is the thread's.
static void find_forces(int me) {
    for (int i = 0; i < count; i++)
        force[me][i] = 0; // RACE: force with line 41
    for (int i = me; i < count; i += THREADS) {
        for (int j = i + 1; j < count; j++) {
            double apart = place[j] - place[i]; // RACE: place with line 50
            double pull = 1 / (apart * apart + 1);
            force[me][i] += pull; // NORACE: force
            force[me][j] -= pull; // RACE: force with line 41
        }
    }
}

static double sum_of_forces(int particle) {
    double sum = 0;
    for (int row = 0; row < THREADS; row++)
        sum += force[row][particle]; // RACE: force with line 27, force with line 33
    return sum;
}

// Moves the thread's particles; their energy.
static double move(int me) {
    double mine = 0;
    for (int i = me; i < count; i += THREADS) {
        speed[i] += sum_of_forces(i) * 0.01; // NORACE: speed
        place[i] += speed[i] * 0.01; // RACE: place with line 30
        mine += speed[i] * speed[i]; // NORACE: speed
    }
    return mine;
}

static void *mover(void *arg) {
    int me = *(int *)arg;
    for (int step = 0; step < STEPS; step++) {
        find_forces(me);
        pthread_barrier_wait(&meeting);
        double mine = move(me);
        energy += mine; // RACE: energy with line 62, energy with line 64
        if (me == 0)
            seen_energy = energy; // RACE: energy with line 62
    }
    return NULL;
}

int main(int argc, char **argv) {
    count = argc > 1 ? atoi(argv[1]) : 4;
    if (count < 4 || count > MOST)
        return 2;
    for (int i = 0; i < count; i++)
        place[i] = i * 1.5; // NORACE: place
    pthread_barrier_init(&meeting, NULL, THREADS);
    pthread_t threads[THREADS];
    int names[THREADS];
    for (int i = 0; i < THREADS; i++) {
        names[i] = i;
        pthread_create(&threads[i], NULL, mover, &names[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%s\n", energy > 0 ? "moving" : "at rest"); // NORACE: energy
    return 0;
}
