// Main ends with pthread_exit; the thread that outlives it creates another one and waits for it. Once this hung in
// about every other recording: of two kernel threads that waited for the new one, the wrong one was woken.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static union {
    signed char bytes[8];
    int number;
} first, second;

static void *inner(void *unused) {
    memset(&first.bytes[0], 2, 4); // RACE: first with line 29
    return unused;
}

static void *outer(void *unused) {
    pthread_t thread;
    memcpy(&second, &first, 4);
    pthread_create(&thread, NULL, inner, NULL);
    pthread_join(thread, NULL);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, outer, NULL);
    pthread_detach(thread);
    printf("%d\n", first.number); // RACE: first with line 13
    pthread_exit(NULL);
}
