// After "hybrid", tables 1 to 3, elevator: a discrete event simulator. People call lifts; lifts take calls from a board, one floor of travel at a time on a common
// clock of events, and carry their people where they want to go.
//
// Verdict: the board, the clock and the journal each have a lock, which everybody takes. A lift is its thread's own until it has ended, when main reads where it
// stands and how far it went; people are written before the lifts start, and one by the lift that carries them, who has taken their call under the lock.
//
// NORACE
// EXPECT-STDOUT: 6 people carried, 2 lifts at rest
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { FLOORS = 6, LIFTS = 2, MOST = 4096 };

typedef struct {
    int from, to;
    int arrived_at; // by the clock
} Person;

typedef struct {
    int floor;
    int travelled;
    int is_at_rest;
} Lift;

Person people[MOST];
Lift lifts[LIFTS];
int count;

// The board: who has called and was not fetched yet.
int first_waiting, called;
int is_closed; // nobody calls any more
pthread_mutex_t board = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t change = PTHREAD_COND_INITIALIZER;

int now;
pthread_mutex_t clock_lock = PTHREAD_MUTEX_INITIALIZER;
int stops[FLOORS];
pthread_mutex_t journal = PTHREAD_MUTEX_INITIALIZER;

static void call(int is_last) {
    pthread_mutex_lock(&board);
    called++; // NORACE: called
    is_closed = is_last; // NORACE: is_closed
    pthread_cond_broadcast(&change);
    pthread_mutex_unlock(&board);
}

// Who is to be fetched next; NULL when all have been.
static Person *next_call(void) {
    pthread_mutex_lock(&board);
    while (first_waiting == called && !is_closed)
        pthread_cond_wait(&change, &board);
    Person *person = first_waiting < called ? &people[first_waiting++] : NULL; // NORACE: first_waiting
    pthread_mutex_unlock(&board);
    return person;
}

static int tick(void) {
    pthread_mutex_lock(&clock_lock);
    int time = ++now; // NORACE: now
    pthread_mutex_unlock(&clock_lock);
    return time;
}

static void go(Lift *lift, int floor) {
    while (lift->floor != floor) {
        lift->floor += lift->floor < floor ? 1 : -1; // NORACE: lifts
        lift->travelled++; // NORACE: lifts
        tick();
    }
    pthread_mutex_lock(&journal);
    stops[floor]++; // NORACE: stops
    pthread_mutex_unlock(&journal);
}

static void *run(void *arg) {
    Lift *lift = arg;
    for (Person *person = next_call(); person != NULL; person = next_call()) {
        go(lift, person->from); // NORACE: people
        go(lift, person->to);
        person->arrived_at = tick(); // NORACE: people
    }
    lift->is_at_rest = 1; // NORACE: lifts
    return NULL;
}

int main(int argc, char **argv) {
    count = argc > 1 ? atoi(argv[1]) : 6;
    if (count < 1 || count > MOST)
        return 2;
    for (int i = 0; i < count; i++)
        people[i] = (Person){i * 5 % FLOORS, (i * 3 + 2) % FLOORS, 0}; // NORACE: people
    pthread_t threads[LIFTS];
    for (int i = 0; i < LIFTS; i++)
        pthread_create(&threads[i], NULL, run, &lifts[i]);
    for (int i = 0; i < count; i++)
        call(i + 1 == count);
    int carried = 0, resting = 0;
    for (int i = 0; i < LIFTS; i++) {
        pthread_join(threads[i], NULL);
        resting += lifts[i].is_at_rest; // NORACE: lifts
    }
    for (int i = 0; i < count; i++)
        carried += people[i].arrived_at > 0; // NORACE: people
    printf("%d people carried, %d lifts at rest\n", carried, resting);
    return 0;
}
