// A worker that has nothing to add stores what is there already, and then looks at something else. Its
// store is a write like any other, and comes before that.
#include <pthread.h>

int total;
int most;
int seen;

static void *worker(void *arg) {
    int mine = *(int *)arg;
    total += mine; // RACE: total with line 21
    if (mine > most)
        most = mine;
    return NULL;
}

int main(void) {
    pthread_t thread;
    int nothing = 0;
    pthread_create(&thread, NULL, worker, &nothing);
    seen = total; // RACE: total with line 11
    pthread_join(thread, NULL);
    return 0;
}
