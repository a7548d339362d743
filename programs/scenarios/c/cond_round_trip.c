// A buffer that belongs to whoever's turn it is: the turn is handed over and back under a lock with a
// condition variable, the buffer itself is used outside of it. Nobody touches it when it is not his.
//
// NORACE
// EXPECT-STDOUT: buffer 3
#include <pthread.h>
#include <stdio.h>

enum { MAIN, HELPER } turn = MAIN;
int buffer;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void wait_for(int whose) {
    pthread_mutex_lock(&lock);
    while ((int)turn != whose) // NORACE: turn
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void hand_to(int whose) {
    pthread_mutex_lock(&lock);
    turn = whose; // NORACE: turn
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void *helper(void *arg) {
    wait_for(HELPER);
    buffer++; // NORACE: buffer
    hand_to(MAIN);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, helper, NULL);
    buffer = 1; // NORACE: buffer
    hand_to(HELPER);
    wait_for(MAIN);
    buffer++; // NORACE: buffer
    printf("buffer %d\n", buffer);
    pthread_join(thread, NULL);
    return 0;
}
