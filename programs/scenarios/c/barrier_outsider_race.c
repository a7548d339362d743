// Two threads meet at a barrier after they have written their cells. Main, which does not belong to the
// barrier, only knows from a flag under a lock that one of them has started, and reads both cells.
// In most runs both were long through.
//
#include <pthread.h>
#include <stdbool.h>

bool started;
int cells[2], sum, through;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_barrier_t meeting;

static void *work(void *arg) {
    int mine = arg != NULL;
    pthread_mutex_lock(&lock);
    started = true; // NORACE: started
    pthread_mutex_unlock(&lock);
    cells[mine] = 1; // RACE: cells with line 49
    pthread_barrier_wait(&meeting);
    pthread_mutex_lock(&lock);
    through++; // NORACE: through
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *nothing(void *arg) {
    return arg;
}

// Meanwhile the other thread usually gets through, but nothing makes it.
static void dawdle(void) {
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, nothing, NULL);
        pthread_join(thread, NULL);
    }
}

int main(void) {
    pthread_t threads[2];
    pthread_barrier_init(&meeting, NULL, 2);
    pthread_create(&threads[0], NULL, work, NULL);
    pthread_create(&threads[1], NULL, work, threads);
    dawdle();
    pthread_mutex_lock(&lock);
    bool seen = started; // NORACE: started
    pthread_mutex_unlock(&lock);
    if (seen)
        sum = cells[0] + cells[1]; // RACE: cells with line 18
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    pthread_barrier_destroy(&meeting);
    return 0;
}
