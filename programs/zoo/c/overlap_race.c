// Accesses of different sizes: one thread writes a whole word, the other one byte in its middle.
#include <pthread.h>
#include <stdint.h>

union word {
    uint32_t whole;
    uint8_t bytes[4];
};

union word shared;

static void *write_whole(void *arg) {
    (void)arg;
    shared.whole = 0x01020304; // RACE: shared with line 21
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, write_whole, NULL);
    shared.bytes[2] = 9; // RACE: shared with line 14
    pthread_join(thread, NULL);
    return 0;
}
