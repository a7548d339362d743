// After "prefix", table 1, Elevsim: an elevator simulator. Cars take calls from a panel, pick up somebody at one floor and bring them
// to another. Whoever stands at a floor's door is written on that door. A car that is alone at a floor writes it
// without a lock; a car that is not alone takes the lock of the doors.
//
// Verdict: a car that came to a floor alone may be overtaken before it writes, by one that comes next, sees that it is not alone,
// and writes under door_lock: a race. Both are at one floor at the same time, at these very lines, only in rare
// interleavings; in all others the floor's own lock, taken on arrival and departure, orders the writes. Two cars that
// are both alone at a floor come one after the other, and two that are not both hold door_lock. The panel, cars' places, people and visitors are
// accessed under their locks.
//
// EXPECT-STDOUT: 8 people served
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FLOORS = 10,
    LOBBY = 0,
    CALLS = 8,
    MOST_CARS = 16,
};

// Somebody wants to go from one floor to another.
typedef struct {
    int from;
    int to;
} Call;

const Call calls[CALLS] = {
    {LOBBY, 3}, {5, 8}, {4, LOBBY}, {1, 6}, {7, 9}, {2, 8}, {9, 5}, {6, 4},
};

typedef struct {
    pthread_mutex_t lock;
    int visitors; // cars that are here
    int visits;
} Floor;

// The panel, under panel_lock.
int next_call;
int served;
int place_of[MOST_CARS + 1];
pthread_mutex_t panel_lock = PTHREAD_MUTEX_INITIALIZER;

#define EMPTY {PTHREAD_MUTEX_INITIALIZER, 0, 0}
Floor floors[FLOORS] = {EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY};

// Which car stands at a floor's door, or did last. Cars are counted from 1.
int door[FLOORS];
pthread_mutex_t door_lock = PTHREAD_MUTEX_INITIALIZER;

static int take_call(Call *call) {
    pthread_mutex_lock(&panel_lock);
    int is_left = next_call < CALLS; // NORACE: next_call
    if (is_left)
        *call = calls[next_call++];
    pthread_mutex_unlock(&panel_lock);
    return is_left;
}

// A car comes to a floor; whether it is the only one there.
static int arrive(int floor) {
    pthread_mutex_lock(&floors[floor].lock);
    int is_alone = ++floors[floor].visitors == 1; // NORACE: floors
    floors[floor].visits++;
    pthread_mutex_unlock(&floors[floor].lock);
    return is_alone;
}

static void depart(int floor) {
    pthread_mutex_lock(&floors[floor].lock);
    floors[floor].visitors--; // NORACE: floors
    pthread_mutex_unlock(&floors[floor].lock);
}

static void open_door(int car, int floor, int is_alone) {
    if (is_alone) {
        door[floor] = car; // RACE: door with line 83
        return;
    }
    pthread_mutex_lock(&door_lock);
    door[floor] = car; // RACE: door with line 79
    pthread_mutex_unlock(&door_lock);
}

static void stop_at(int car, int floor) {
    int is_alone = arrive(floor);
    open_door(car, floor, is_alone);
    depart(floor);
}

// Moves floor by floor; the panel shows where the car is. It stops where it is going.
static void travel(int car, int floor, int to) {
    while (floor != to) {
        floor += floor < to ? 1 : -1;
        pthread_mutex_lock(&panel_lock);
        place_of[car] = floor; // NORACE: place_of
        pthread_mutex_unlock(&panel_lock);
    }
    stop_at(car, to);
}

static int where(int car) {
    pthread_mutex_lock(&panel_lock);
    int floor = place_of[car]; // NORACE: place_of
    pthread_mutex_unlock(&panel_lock);
    return floor;
}

static void begin(int car) {
    pthread_mutex_lock(&panel_lock);
    place_of[car] = car % FLOORS;
    pthread_mutex_unlock(&panel_lock);
}

static void *car(void *arg) {
    int self = (int)(intptr_t)arg;
    Call call;
    begin(self);
    while (take_call(&call)) {
        travel(self, where(self), call.from);
        travel(self, call.from, call.to);
        pthread_mutex_lock(&panel_lock);
        served++; // NORACE: served
        pthread_mutex_unlock(&panel_lock);
    }
    return NULL;
}

// How many people were served. Every car has gone from every floor, and cars have stopped twice for each call.
static int people(void) {
    int visits = 0;
    for (int floor = 0; floor < FLOORS; floor++) {
        pthread_mutex_lock(&floors[floor].lock);
        if (floors[floor].visitors != 0)
            abort();
        visits += floors[floor].visits;
        pthread_mutex_unlock(&floors[floor].lock);
    }
    if (visits < 2 * CALLS)
        abort();
    pthread_mutex_lock(&panel_lock);
    int all = served;
    pthread_mutex_unlock(&panel_lock);
    return all;
}

int main(int argc, char **argv) {
    int cars = argc > 1 ? atoi(argv[1]) : 2;
    if (cars < 1 || cars > MOST_CARS)
        return 2;
    pthread_t threads[MOST_CARS];
    for (int i = 0; i < cars; i++)
        pthread_create(&threads[i], NULL, car, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < cars; i++)
        pthread_join(threads[i], NULL);
    printf("%d people served\n", people());
    return 0;
}
