// After "prefix", table 1, our_tsp: the travelling salesman of tsp.c with its race mended and another one made. The shortest
// length has a lock, which is also taken for reading, and calls of a function are counted. The count has a lock, too; but who has
// found the first tour of all believes that nobody else can be counting yet, and does without.
//
// Verdict: between telling its length and counting itself, the finder of the first tour can be overtaken by another thread
// with its own first tour, which counts under count_lock: a race. It takes a switch in a gap of a few
// instructions, with another thread just about to finish a tour: otherwise min_lock, which everybody takes all the
// time, orders the two. min_tour, best and the pool are always accessed under their locks.
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
    NO_TOUR = INT_MAX,
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

int min_tour = NO_TOUR;
int best[CITIES];
pthread_mutex_t min_lock = PTHREAD_MUTEX_INITIALIZER;

int calls; // how often a tour was finished
pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;

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

// Whether a tour cannot become the shortest any more.
static int is_hopeless(const Tour *tour) {
    pthread_mutex_lock(&min_lock);
    int shortest = min_tour; // NORACE: min_tour
    pthread_mutex_unlock(&min_lock);
    return tour->length >= shortest;
}

static void count_call(int is_first) {
    if (is_first) {
        calls = 1; // RACE: calls with line 94
        return;
    }
    pthread_mutex_lock(&count_lock);
    calls++; // RACE: calls with line 90
    pthread_mutex_unlock(&count_lock);
}

// Goes home from the last city.
static void finish(const Tour *tour) {
    int length = tour->length + distance[tour->path[CITIES - 1]][tour->path[0]];
    pthread_mutex_lock(&min_lock);
    int is_first = min_tour == NO_TOUR;
    if (length < min_tour) {
        for (int i = 0; i < CITIES; i++)
            best[i] = tour->path[i]; // NORACE: best
        min_tour = length; // NORACE: min_tour
    }
    pthread_mutex_unlock(&min_lock);
    count_call(is_first);
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
