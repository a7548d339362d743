// The worker touches the element of its descriptor's number once more after it has closed the
// descriptor: somebody else may have the number by then.
#include <pthread.h>
#include <unistd.h>

int uses[64];
int first;

static void *worker(void *arg) {
    uses[first] = 1; // NORACE: uses
    close(first);
    uses[first] = 0; // RACE: uses with line 38
    return arg;
}

static void *nothing(void *arg) {
    return arg;
}

// Meanwhile the worker usually gets through, but nothing makes it.
static void dawdle(void) {
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, nothing, NULL);
        pthread_join(thread, NULL);
    }
}

int main(void) {
    pthread_t thread;
    first = dup(STDOUT_FILENO);
    pthread_create(&thread, NULL, worker, NULL);
    dawdle();
    int second = dup(STDOUT_FILENO); // The first one's number, or another.
    if (second < 0 || second >= 64)
        return 1;
    // Only if the number is the same, the element is.
    uses[second] = 2; // RACE: uses with line 12
    pthread_join(thread, NULL);
    close(second);
    return 0;
}
