// From "prefix", figure 4: workers that now and then reorganise a shared collection.
//
// Every worker first looks at the number of finished rounds under one lock, then walks its own part
// of the clauses, then counts the round under another lock. Two locks for one variable protect
// nothing.
//
// Verdict: one worker can stand at the test holding key_lock while the other, already through its
// loop, stands at the increment holding delete_lock: a race on `rounds`. Two increments, or two
// compressions, share a lock; each clause belongs to one worker; `deleted` has its own lock.
// EXPECT-STDOUT: deleted 4
#include <pthread.h>
#include <stdio.h>

enum { WORKERS = 2, CLAUSES = 8, LIMIT = 5 };

int clause_size[CLAUSES] = {1, 9, 2, 8, 3, 7, 4, 6};
int rounds, deleted, compressions;
pthread_mutex_t key_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t number_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t delete_lock = PTHREAD_MUTEX_INITIALIZER;

static void *reorganise(void *arg) {
    int start = *(int *)arg;

    pthread_mutex_lock(&key_lock);
    if (rounds % 5 == 0) // RACE: rounds with line 40
        compressions++; // NORACE: compressions
    pthread_mutex_unlock(&key_lock);

    for (int i = start; i < start + CLAUSES / WORKERS; i++) {
        pthread_mutex_lock(&number_lock);
        if (clause_size[i] > LIMIT) {
            clause_size[i] = 0; // NORACE: clause_size
            deleted++; // NORACE: deleted
        }
        pthread_mutex_unlock(&number_lock);
    }

    pthread_mutex_lock(&delete_lock);
    ++rounds; // RACE: rounds with line 26
    pthread_mutex_unlock(&delete_lock);
    return NULL;
}

int main(void) {
    pthread_t threads[WORKERS];
    int starts[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        starts[i] = i * (CLAUSES / WORKERS);
        pthread_create(&threads[i], NULL, reorganise, &starts[i]);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    printf("deleted %d\n", deleted);
    return 0;
}
