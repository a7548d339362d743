// What functions of the C library do to memory.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char buffer[32], copied[32], formatted[32], compared[32];
int numbers[8];
char *block;
struct pair { int *left; int *right; } from, to;
int value;

static int ascending(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b; // RACE!
}

static void *worker(void *unused) {
    memset(buffer, 0, sizeof buffer); // RACE!
    memcpy(copied, compared, sizeof copied); // RACE!
    snprintf(formatted, sizeof formatted, "%d", 1); // RACE!
    qsort(numbers, 8, sizeof *numbers, ascending); // RACE!
    free(block);                    // RACE!
    *to.left = 1;                   // RACE!
    return unused;
}

int main(void) {
    pthread_t thread;
    block = malloc(8);
    memcpy(&to, &from, sizeof to);
    from.left = &value;
    memcpy(&to, &from, sizeof to);  // NORACE
    pthread_create(&thread, 0, worker, 0);
    buffer[7] = 1;                  // RACE!
    int n = copied[3];              // RACE!
    n += (int)strlen(formatted);    // RACE!
    n += strcmp(compared, "x");     // NORACE
    numbers[2] = n;                 // RACE!
    block[1] = 2;                   // RACE!
    value = 3;                      // RACE!
    pthread_join(thread, 0);
    return numbers[2];              // NORACE
}
