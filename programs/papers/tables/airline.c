// After "maximal", table 1, airline: ten clerks sell the seats of one aeroplane, one each, until somebody says that it is full. Nothing is locked, so that
// there can be more passengers than seats.
//
// Verdict: the clerks run side by side from the beginning, so that any two sales can meet, a sale can meet another clerk's look at how many were sold, and
// main's look meanwhile. All clerks can have passed the first look before any of them says that the aeroplane is full: then two who say so meet.
// Main's last look is after all have ended.
//
// EXPECT-STDOUT: the gate is closed
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_CLERKS = 64 };

int sold;
int is_full;
int seats;
int sold_so_far;

static void *clerk(void *arg) {
    (void)arg;
    if (is_full) // RACE: is_full with line 26
        return NULL;
    sold++; // RACE: sold with line 24, sold with line 25, sold with line 38
    if (sold >= seats) // RACE: sold with line 24
        is_full = 1; // RACE: is_full with line 22, is_full with line 26
    return NULL;
}

int main(int argc, char **argv) {
    int clerks = argc > 1 ? atoi(argv[1]) : 10;
    if (clerks < 2 || clerks > MOST_CLERKS)
        return 2;
    seats = clerks / 2; // NORACE: seats
    pthread_t threads[MOST_CLERKS];
    for (int i = 0; i < clerks; i++)
        pthread_create(&threads[i], NULL, clerk, NULL);
    sold_so_far = sold; // RACE: sold with line 24
    for (int i = 0; i < clerks; i++)
        pthread_join(threads[i], NULL);
    printf("%s\n", sold > 0 ? "the gate is closed" : "nobody came"); // NORACE: sold
    return 0;
}
