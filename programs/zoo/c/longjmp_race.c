// The error path, reached by longjmp out of nested calls, forgets the mutex that the normal path takes.
#include <pthread.h>
#include <setjmp.h>

enum { DEPTH = 5 };

int attempts;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void descend(jmp_buf *surface, int depth, int floor) {
    if (depth == floor)
        longjmp(*surface, 1);
    if (depth > 0)
        descend(surface, depth - 1, floor);
}

static void *worker(void *arg) {
    const int *floor = arg;
    jmp_buf surface;
    if (setjmp(surface) == 0) {
        descend(&surface, DEPTH, *floor);
        pthread_mutex_lock(&lock);
        attempts++; // RACE: attempts with line 26
        pthread_mutex_unlock(&lock);
    } else {
        attempts++; // RACE: attempts with line 23
    }
    return NULL;
}

int main(void) {
    pthread_t first, second;
    int never = -1, middle = 2;
    pthread_create(&first, NULL, worker, &never);
    pthread_create(&second, NULL, worker, &middle);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
