// Main ends with pthread_exit while its thread goes on; the process ends, with code 0, when the last
// thread does. The thread joins main and then reads what main wrote last. (Stock TSan gives up when
// main is joined.)
//
// NORACE
// EXPECT-STDOUT: last word 42
#include <pthread.h>
#include <stdio.h>

int last_word;
pthread_t main_thread;

static void *survivor(void *arg) {
    (void)arg;
    pthread_join(main_thread, NULL);
    printf("last word %d\n", last_word); // NORACE: last_word
    return NULL;
}

int main(void) {
    pthread_t thread;
    main_thread = pthread_self();
    pthread_create(&thread, NULL, survivor, NULL);
    pthread_detach(thread);
    last_word = 42; // NORACE: last_word
    pthread_exit(NULL);
}
