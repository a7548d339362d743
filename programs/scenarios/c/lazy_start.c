// A helper thread is started by whoever needs it first, under a lock that guards the flag. What the starter
// wrote before goes with the creation; what the helper made comes back with the join.
//
// NORACE
// EXPECT-STDOUT: answer 42
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

bool running;
int question, answer;
pthread_t helper_thread;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *helper(void *arg) {
    answer = question * 2; // NORACE: answer, question
    return arg;
}

static void need_helper(void) {
    pthread_mutex_lock(&lock);
    if (!running) { // NORACE: running
        running = true; // NORACE: running
        question = 21; // NORACE: question
        pthread_create(&helper_thread, NULL, helper, NULL);
    }
    pthread_mutex_unlock(&lock);
}

static void *other(void *arg) {
    need_helper();
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    need_helper();
    pthread_join(thread, NULL);
    pthread_join(helper_thread, NULL);
    printf("answer %d\n", answer); // NORACE: answer
    return 0;
}
