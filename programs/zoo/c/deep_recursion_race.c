// A race at the bottom of a recursion twenty thousand calls deep, where a stack is expensive to keep.
#include <pthread.h>
#include <stddef.h>

enum { DEPTH = 20000 };

struct frame {
    const struct frame *caller;
};

int dives;
int levels;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void descend(const struct frame *caller, int depth) {
    struct frame frame = {caller};
    if (depth > 1) {
        descend(&frame, depth - 1);
        return;
    }
    pthread_mutex_lock(&lock);
    for (const struct frame *level = &frame; level != NULL; level = level->caller)
        levels++; // NORACE: levels
    pthread_mutex_unlock(&lock);
    dives++; // RACE: dives with line 25
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
    return 0;
}
