// After "maximal", table 1, pingpong: players take turns at a ball that a thief takes from the table and puts back.
//
// Verdict: a turn is counted under the court's lock, but the ball is looked for and hit after that lock is given back, and the thief does not know the lock. So
// looking for the ball can meet its being taken and its being put back; two players can hit it at once, and the referee can look at the hits meanwhile.
// Nobody but the thief changes where the ball is. The first player begins the
// service without the lock, too, and the thief looks at that after it has looked at the turns: these meet when the thief comes first, which nothing but the number of turns that
// it sees can tell.
//
// EXPECT-STDOUT: 6 turns
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLAYERS = 3 };

typedef struct {
    int hits;
} Ball;

Ball white;
Ball *on_table = &white;
int turns;
int rounds;
int service; // has begun
int seen_hits, seen_turns, seen_service;
pthread_mutex_t court = PTHREAD_MUTEX_INITIALIZER;

static void *player(void *arg) {
    int *me = arg;
    if (*me == 0)
        service = 1; // RACE: service with line 51
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&court);
        turns++; // NORACE: turns
        pthread_mutex_unlock(&court);
        Ball *ball = on_table; // RACE: on_table with line 46, on_table with line 50
        if (ball != NULL)
            ball->hits++; // RACE: white with line 38, white with line 64
    }
    return NULL;
}

static void *thief(void *arg) {
    (void)arg;
    Ball *pocket = on_table; // NORACE: on_table
    on_table = NULL; // RACE: on_table with line 36
    pthread_mutex_lock(&court);
    seen_turns = turns; // NORACE: turns
    pthread_mutex_unlock(&court);
    on_table = pocket; // RACE: on_table with line 36
    seen_service = service; // RACE: service with line 31
    return NULL;
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t players[PLAYERS], bad_one;
    int names[PLAYERS];
    for (int i = 0; i < PLAYERS; i++) {
        names[i] = i;
        pthread_create(&players[i], NULL, player, &names[i]);
    }
    pthread_create(&bad_one, NULL, thief, NULL);
    seen_hits = white.hits; // RACE: white with line 38
    for (int i = 0; i < PLAYERS; i++)
        pthread_join(players[i], NULL);
    pthread_join(bad_one, NULL);
    printf("%d turns\n", turns); // NORACE: turns
    return 0;
}
