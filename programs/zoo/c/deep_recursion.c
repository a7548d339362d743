// Both threads recurse twenty thousand calls deep and meet at the bottom under a mutex.
//
// NORACE
// EXPECT-STDOUT: depths 40000
#include <pthread.h>
#include <stdio.h>

enum { DEPTH = 20000 };

struct frame {
    const struct frame *caller;
};

int depths;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void bottom(const struct frame *frame) {
    pthread_mutex_lock(&lock);
    for (; frame != NULL; frame = frame->caller)
        depths++; // NORACE: depths
    pthread_mutex_unlock(&lock);
}

static void descend(const struct frame *caller, int depth) {
    struct frame frame = {caller};
    if (depth == 1)
        bottom(&frame);
    else
        descend(&frame, depth - 1);
}

static void *diver(void *arg) {
    (void)arg;
    descend(NULL, DEPTH);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, diver, NULL);
    pthread_create(&second, NULL, diver, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("depths %d\n", depths);
    return 0;
}
