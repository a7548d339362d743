// Two threads write neighbouring bytes of one word: different memory locations, however close.
//
// NORACE
// EXPECT-STDOUT: ab
#include <pthread.h>
#include <stdio.h>

char text[4];

static void *write_second(void *arg) {
    (void)arg;
    for (int i = 0; i < 10; i++)
        text[1] = 'b'; // NORACE: text
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, write_second, NULL);
    for (int i = 0; i < 10; i++)
        text[0] = 'a'; // NORACE: text
    pthread_join(thread, NULL);
    puts(text); // NORACE: text
    return 0;
}
