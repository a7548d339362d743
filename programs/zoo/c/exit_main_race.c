// Main ends with pthread_exit, but the thread that outlives it does not wait for that. (Stock TSan's own
// background thread keeps the process alive for ever.)
#include <pthread.h>
#include <stddef.h>

int last_word;
int heard;

static void *survivor(void *arg) {
    (void)arg;
    heard = last_word; // RACE: last_word with line 19
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, survivor, NULL);
    pthread_detach(thread);
    last_word = 42; // RACE: last_word with line 11
    pthread_exit(NULL);
}
