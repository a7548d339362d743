// After "maximal", table 1, critical: two visitors of a critical section that only a plain flag guards. Each looks whether the section is free, says
// who is in, counts, and leaves.
//
// Verdict: both visitors can find the section free before either says that it is taken, and from then on they go through it side by side: every access of
// one to the flag can meet every write of the other, and so can the two counts. Main looks at the counter after both
// have ended.
//
// EXPECT-STDOUT: both have left
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int taken;
int counter;
int rounds;

// Not inlined, so that each access keeps its line.
__attribute__((noinline)) static void visit(int me) {
    if (taken) // RACE: taken with line 21, taken with line 23
        return;
    taken = me; // RACE: taken with line 19, taken with line 21, taken with line 23
    counter++; // RACE: counter with line 22
    taken = 0; // RACE: taken with line 19, taken with line 21, taken with line 23
}

static void *visitor(void *arg) {
    for (int i = 0; i < rounds; i++)
        visit(*(int *)arg);
    return NULL;
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atoi(argv[1]) : 1; // NORACE: rounds
    pthread_t first, second;
    int names[] = {1, 2};
    pthread_create(&first, NULL, visitor, &names[0]);
    pthread_create(&second, NULL, visitor, &names[1]);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("%s\n", counter <= 2 * rounds ? "both have left" : "too many visits"); // NORACE: counter
    return 0;
}
