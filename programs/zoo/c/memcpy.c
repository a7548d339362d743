// Library copies into one array at the same time, but into different halves of it.
//
// NORACE
// EXPECT-STDOUT: aaaabbbb
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { HALF = 4 };

char text[2 * HALF + 1];
size_t half = HALF;

static void *fill_second(void *arg) {
    (void)arg;
    memset(text + half, 'b', half); // NORACE: text
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, fill_second, NULL);
    memcpy(text, "aaaa", half); // NORACE: text
    pthread_join(thread, NULL);
    puts(text); // NORACE: text
    return 0;
}
