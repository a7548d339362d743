// The travelling salesman by branch and bound: two threads take the beginnings of tours from a shared
// counter and search below them. The bound is looked at without its lock: a race, and a harmless one
// here, for an old bound only prunes less. The best tour and its length change under the lock and are
// read when the threads have ended.
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { CITIES = 11, BEGINNINGS = (CITIES - 1) * (CITIES - 2) };

int distance[CITIES][CITIES];
int best_tour[CITIES];
int best;
int next_beginning;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int beginning(void) {
    pthread_mutex_lock(&lock);
    int mine = next_beginning++; // NORACE: next_beginning
    pthread_mutex_unlock(&lock);
    return mine;
}

static void offer(const int *tour, int length) {
    pthread_mutex_lock(&lock);
    if (length < best) { // NORACE: best
        best = length; // RACE: best with line 37
        for (int i = 0; i < CITIES; i++)
            best_tour[i] = tour[i]; // NORACE: best_tour
    }
    pthread_mutex_unlock(&lock);
}

static void extend(int *tour, int count, unsigned visited, int length) {
    const int *from = distance[tour[count - 1]];
    int bound = best; // RACE: best with line 28
    if (length >= bound)
        return;
    if (count == CITIES) {
        offer(tour, length + from[0]);
        return;
    }
    for (int city = 1; city < CITIES; city++) {
        if (visited & 1u << city)
            continue;
        tour[count] = city;
        extend(tour, count + 1, visited | 1u << city, length + from[city]); // NORACE: distance
    }
}

static void *search(void *arg) {
    (void)arg;
    for (;;) {
        int number = beginning();
        if (number >= BEGINNINGS)
            return 0;
        int second = 1 + number / (CITIES - 2), third = 1 + number % (CITIES - 2);
        if (third >= second)
            third++;
        int tour[CITIES] = {0, second, third};
        int length = distance[0][second] + distance[second][third]; // NORACE: distance
        extend(tour, 3, 1u | 1u << second | 1u << third, length);
    }
}

static void place_cities(unsigned state) {
    int x[CITIES], y[CITIES];
    for (int i = 0; i < CITIES; i++) {
        x[i] = (state = state * 1664525u + 1013904223u) >> 22;
        y[i] = (state = state * 1664525u + 1013904223u) >> 22;
    }
    for (int i = 0; i < CITIES; i++)
        for (int j = 0; j < CITIES; j++)
            distance[i][j] = abs(x[i] - x[j]) + abs(y[i] - y[j]); // NORACE: distance
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    long total = 0;
    for (int round = 0; round < rounds; round++) {
        place_cities(4711 + round);
        best = INT_MAX; // NORACE: best
        next_beginning = 0; // NORACE: next_beginning
        pthread_t threads[2];
        for (int t = 0; t < 2; t++)
            pthread_create(&threads[t], 0, search, 0);
        for (int t = 0; t < 2; t++)
            pthread_join(threads[t], 0);
        int length = 0;
        for (int i = 0; i < CITIES; i++)
            length += distance[best_tour[i]][best_tour[(i + 1) % CITIES]]; // NORACE: best_tour
        total += length == best ? length : 0; // NORACE: best
    }
    printf("%ld\n", total);
    return 0;
}
