// Two readers look at a pair of values that a writer changes together: the pair is always equal.
//
// NORACE
// EXPECT-STDOUT: torn 0
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 5 };

int left, right;
int torn[2];
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *reader(void *arg) {
    int *my_torn = arg;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_rwlock_rdlock(&lock);
        if (left != right) // NORACE: left, right
            ++*my_torn;
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}

static void *writer(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_rwlock_wrlock(&lock);
        left++; // NORACE: left
        right++; // NORACE: right
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, reader, &torn[0]);
    pthread_create(&threads[1], NULL, writer, NULL);
    pthread_create(&threads[2], NULL, reader, &torn[1]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("torn %d\n", torn[0] + torn[1]);
    return 0;
}
