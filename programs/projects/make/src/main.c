// Counts the words and lines of files, each in a thread.
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tally.h"

static void *count(void *name) {
    FILE *file = fopen(name, "r");
    if (!file) {
        perror(name);
        exit(1);
    }
    long words = 0, lines = 0;
    int before = ' ';
    for (int c; (c = getc(file)) != EOF; before = c) {
        words += isspace(before) && !isspace(c);
        lines += c == '\n';
    }
    fclose(file);
    tally_add(words, lines);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[8];
    int files = argc - 1 < 8 ? argc - 1 : 8;
    for (int i = 0; i < files; i++)
        pthread_create(&threads[i], NULL, count, argv[i + 1]);
    for (int i = 0; i < files; i++)
        pthread_join(threads[i], NULL);
    printf("%ld words, %ld lines\n", tally_words(), tally_lines());
    return 0;
}
