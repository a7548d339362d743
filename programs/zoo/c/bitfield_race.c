// Two bit fields, one per thread, that share a word: writing one rewrites the other.
#include <pthread.h>

struct flags {
    unsigned left : 4;
    unsigned right : 4;
};

struct flags flags;

static void *set_right(void *arg) {
    (void)arg;
    flags.right = 6; // RACE: flags with line 20
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, set_right, NULL);
    flags.left = 5; // RACE: flags with line 13
    pthread_join(thread, NULL);
    return 0;
}
