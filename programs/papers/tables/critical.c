// After "maximal", table 1, critical: two visitors of a critical section that only a plain flag guards. Each looks whether the section is free, says
// that it is in, counts, and leaves.
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

static void *visitor(void *arg) {
    (void)arg;
    for (int i = 0; i < rounds; i++) {
        if (taken) // RACE: taken with line 22, taken with line 24
            continue;
        taken = 1; // RACE: taken with line 20, taken with line 22, taken with line 24
        counter++; // RACE: counter with line 23
        taken = 0; // RACE: taken with line 20, taken with line 22, taken with line 24
    }
    return NULL;
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atoi(argv[1]) : 2; // NORACE: rounds
    pthread_t first, second;
    pthread_create(&first, NULL, visitor, NULL);
    pthread_create(&second, NULL, visitor, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("%s\n", counter <= 2 * rounds ? "both have left" : "too many visits"); // NORACE: counter
    return 0;
}
