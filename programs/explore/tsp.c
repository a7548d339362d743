// After "prefix", table 1, tsp: a travelling salesman by branch and bound. Threads take partial tours from a pool, put
// longer ones back while those are short, and finish the others by themselves. Whoever finds a shorter
// tour than the shortest so far says so under a lock; whoever compares with it does not take the lock.
//
// Verdict: the length of the shortest tour is written under min_lock and read without it whenever a tour is extended: a
// race. Everything else is accessed under one lock each, or by one thread only.
//
// EXPECT-STDOUT: shortest tour: 28
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    CITIES = 5,
    MOST_THREADS = 16,
    POOL = 64,
    ALONE = 3, // tours of that many cities are not put back
};

typedef struct {
    int length;
    int cities;
    unsigned visited;
    int path[CITIES];
} Tour;

const int distance[CITIES][CITIES] = {
    {0, 4, 9, 8, 7},
    {4, 0, 6, 11, 9},
    {9, 6, 0, 5, 10},
    {8, 11, 5, 0, 6},
    {7, 9, 10, 6, 0},
};

Tour tours_of[MOST_THREADS + 1][CITIES]; // what each thread works at, main first: a tour, and longer ones behind it
Tour pool[POOL];
int pool_size;
pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;

int min_tour = INT_MAX;
int best[CITIES];
pthread_mutex_t min_lock = PTHREAD_MUTEX_INITIALIZER;

static void put(const Tour *tour) {
    pthread_mutex_lock(&pool_lock);
    if (pool_size == POOL)
        abort();
    pool[pool_size++] = *tour;
    pthread_mutex_unlock(&pool_lock);
}

static int take(Tour *tour) {
    pthread_mutex_lock(&pool_lock);
    int is_left = pool_size > 0;
    if (is_left)
        *tour = pool[--pool_size];
    pthread_mutex_unlock(&pool_lock);
    return is_left;
}

// Goes to one city more. The longer tour is the next of its thread's.
static Tour *extend(Tour *tour, int city) {
    Tour *longer = tour + 1;
    for (int i = 0; i < tour->cities; i++)
        longer->path[i] = tour->path[i];
    longer->path[tour->cities] = city;
    longer->cities = tour->cities + 1;
    longer->length = tour->length + distance[tour->path[tour->cities - 1]][city];
    longer->visited = tour->visited | 1u << city;
    return longer;
}

// Whether a tour cannot become the shortest any more. A stale answer only costs time, its author thought.
static int is_hopeless(const Tour *tour) {
    return tour->length >= min_tour; // RACE: min_tour with line 86
}

// Goes home from the last city.
static void finish(const Tour *tour) {
    int length = tour->length + distance[tour->path[CITIES - 1]][tour->path[0]];
    pthread_mutex_lock(&min_lock);
    if (length < min_tour) { // NORACE: min_tour
        for (int i = 0; i < CITIES; i++)
            best[i] = tour->path[i]; // NORACE: best
        min_tour = length; // RACE: min_tour with line 76
    }
    pthread_mutex_unlock(&min_lock);
}

// Tries all ways to go on, depth first.
static void solve(Tour *tour) {
    if (is_hopeless(tour))
        return;
    if (tour->cities == CITIES) {
        finish(tour);
        return;
    }
    for (int city = 0; city < CITIES; city++) {
        if (!(tour->visited & 1u << city))
            solve(extend(tour, city));
    }
}

// Puts all tours that are one city longer into the pool.
static void split(Tour *tour) {
    for (int city = CITIES - 1; city >= 0; city--) {
        if (!(tour->visited & 1u << city))
            put(extend(tour, city));
    }
}

static void *solver(void *arg) {
    Tour *tour = arg;
    while (take(tour)) {
        if (tour->cities < ALONE)
            split(tour);
        else
            solve(tour);
    }
    return NULL;
}

// The length of the tour that was found. It goes through every city once, and is as long as it is said to be.
static int shortest(void) {
    unsigned visited = 0;
    int length = 0;
    pthread_mutex_lock(&min_lock);
    for (int i = 0; i < CITIES; i++) {
        visited |= 1u << best[i];
        length += distance[best[i]][best[(i + 1) % CITIES]];
    }
    if (visited != (1u << CITIES) - 1 || length != min_tour) // NORACE: min_tour
        abort();
    pthread_mutex_unlock(&min_lock);
    return length;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    if (threads < 1 || threads > MOST_THREADS)
        return 2;
    tours_of[0][0].cities = 1; // at home
    tours_of[0][0].visited = 1;
    split(tours_of[0]);
    pthread_t solvers[MOST_THREADS];
    for (int i = 0; i < threads; i++)
        pthread_create(&solvers[i], NULL, solver, tours_of[i + 1]);
    for (int i = 0; i < threads; i++)
        pthread_join(solvers[i], NULL);
    printf("shortest tour: %d\n", shortest());
    return 0;
}
