// Streams over a pipe: what was done before a line was printed and flushed comes before what is done after it was read, with
// every function that prints or reads. The lines come in pieces, and the reader is there first.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: one line 10, two words, three, xyz, 4 and 5, c
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int values[6];
FILE *from, *to;

static void *printer(void *arg) {
    values[0] = 10; // NORACE: values
    fputs("one ", to);
    fflush(to);
    fputs("line\n", to);
    fflush(to);
    values[1] = 11; // NORACE: values
    fwrite("two ", 1, 4, to);
    fflush(to);
    fwrite("words\n", 6, 1, to);
    fflush(to);
    values[2] = 12; // NORACE: values
    fprintf(to, "%s", "three\n");
    fflush(to);
    values[3] = 13; // NORACE: values
    fputc('x', to);
    fflush(to);
    fputs("yz", to);
    fflush(to);
    values[4] = 14; // NORACE: values
    fprintf(to, "%d ", 4);
    fflush(to);
    fprintf(to, "%d\n", 5);
    fflush(to);
    values[5] = 15; // NORACE: values
    putc('c', to);
    fclose(to);
    return arg;
}

int main(void) {
    pthread_t thread;
    int ends[2], sum = 0;
    char line[64], word[8] = "", *all = NULL;
    size_t room = 0;
    if (pipe(ends) != 0)
        return 1;
    from = fdopen(ends[0], "r");
    to = fdopen(ends[1], "w");
    pthread_create(&thread, NULL, printer, NULL);
    if (fgets(line, sizeof line, from) == NULL)
        return 1;
    sum = values[0]; // NORACE: values
    printf("%.8s %d, ", line, sum);
    if (getline(&all, &room, from) != 10)
        return 1;
    sum += values[1]; // NORACE: values
    printf("%.9s, ", all);
    if (getdelim(&all, &room, '\n', from) != 6)
        return 1;
    sum += values[2]; // NORACE: values
    printf("%.5s, ", all);
    if (fread(word, 1, 3, from) != 3)
        return 1;
    sum += values[3]; // NORACE: values
    printf("%s, ", word);
    if (fscanf(from, "%*d %*d ") == EOF)
        return 1;
    sum += values[4]; // NORACE: values
    printf("4 and 5, ");
    int last = fgetc(from);
    sum += values[5]; // NORACE: values
    printf("%c\n", last);
    if (sum != 75 || getc(from) != EOF)
        return 1;
    pthread_join(thread, NULL);
    free(all);
    fclose(from);
    return 0;
}
