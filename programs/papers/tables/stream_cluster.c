// After "interleave", table 2, streamcluster: points are given to centres. In each round the threads work out, each for its points, what a new centre would
// save; they meet, the first thread decides, and they meet again.
//
// Verdict: a thread's points, and its place in the savings, are its own; what the first thread decides is read after the second meeting. But the
// first thread notes the number of the round after that meeting, and every thread looks at it there: one race.
//
// EXPECT-STDOUT: clustered
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 4096, THREADS = 2, ROUNDS = 3, COST = 20 };

int points[MOST];
int centre_of[MOST];
int count;
int savings[THREADS];
int candidate;
int opens;
int last_round;
int rounds_seen[THREADS];
pthread_barrier_t meeting;

static int away(int a, int b) {
    return a > b ? a - b : b - a;
}

// What the thread's points save if the candidate is a centre.
static int save_with(int me, int centre) {
    int saved = 0;
    for (int i = me; i < count; i += THREADS) {
        int gain = away(points[i], points[centre_of[i]]) - away(points[i], points[centre]); // NORACE: points, centre_of
        saved += gain > 0 ? gain : 0;
    }
    return saved;
}

static void move_to(int me, int centre) {
    for (int i = me; i < count; i += THREADS) {
        if (away(points[i], points[centre]) < away(points[i], points[centre_of[i]]))
            centre_of[i] = centre; // NORACE: centre_of
    }
}

static void decide(int round) {
    int sum = 0;
    for (int i = 0; i < THREADS; i++)
        sum += savings[i]; // NORACE: savings
    opens = sum > COST; // NORACE: opens
    candidate = (round + 1) * 3 % count; // NORACE: candidate
}

static void *worker(void *arg) {
    int me = *(int *)arg;
    for (int round = 0; round < ROUNDS; round++) {
        int centre = candidate; // NORACE: candidate
        savings[me] = save_with(me, centre); // NORACE: savings
        pthread_barrier_wait(&meeting);
        if (me == 0)
            decide(round);
        pthread_barrier_wait(&meeting);
        if (opens) // NORACE: opens
            move_to(me, centre);
        if (me == 0)
            last_round = round + 1; // RACE: last_round with line 66
        rounds_seen[me] += last_round; // RACE: last_round with line 65
    }
    return NULL;
}

int main(int argc, char **argv) {
    count = argc > 1 ? atoi(argv[1]) : 10;
    if (count < 4 || count > MOST)
        return 2;
    for (int i = 0; i < count; i++)
        points[i] = i * 37 % 101;
    candidate = 1;
    pthread_barrier_init(&meeting, NULL, THREADS);
    pthread_t threads[THREADS];
    int names[THREADS];
    for (int i = 0; i < THREADS; i++) {
        names[i] = i;
        pthread_create(&threads[i], NULL, worker, &names[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    int moved = 0;
    for (int i = 0; i < count; i++)
        moved += centre_of[i] != 0; // NORACE: centre_of
    printf("%s\n", moved > 0 ? "clustered" : "all in one heap");
    return 0;
}
