// The printer changes the value once more after it has flushed its line.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

int value;
int seen;
FILE *to;

static void *printer(void *arg) {
    value = 41; // NORACE: value
    fprintf(to, "%s\n", "there");
    fflush(to);
    value = 42; // RACE: value with line 29
    return arg;
}

int main(void) {
    pthread_t thread;
    int ends[2];
    char line[16];
    if (pipe(ends) != 0)
        return 1;
    FILE *from = fdopen(ends[0], "r");
    to = fdopen(ends[1], "w");
    setvbuf(to, NULL, _IOFBF, 4096);
    pthread_create(&thread, NULL, printer, NULL);
    if (fgets(line, sizeof line, from) != NULL)
        seen = value; // RACE: value with line 14
    pthread_join(thread, NULL);
    return 0;
}
