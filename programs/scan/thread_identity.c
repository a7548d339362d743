// The same function in several threads: what each does in its own frame, and what threads of threads share.
#include <pthread.h>

int shared_by_all, by_children;

struct frame {
    int value;
    int child;
};

static void *child(void *argument) {
    struct frame *frame = argument;
    frame->child++;                 // RACE!
    frame->value++;                 // NORACE
    by_children++;                  // RACE!
    return 0;
}

static void *parent(void *unused) {
    struct frame frame = {0, 0};
    pthread_t thread;
    frame.value = 1;                // NORACE
    pthread_create(&thread, 0, child, &frame);
    frame.child++;                  // RACE!
    shared_by_all++;                // RACE!
    pthread_join(thread, 0);
    frame.value++;                  // NORACE
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, parent, 0);
    pthread_create(&b, 0, parent, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return by_children;             // NORACE
}
