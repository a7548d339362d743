// Two threads meet with two semaphores: each posts the one and waits for the other. Main posts before it has
// written what the other is to read behind the meeting; the other side does it in the right order.
//
#include <pthread.h>
#include <semaphore.h>

int from_main, from_thread, seen_by_main, seen_by_thread;
sem_t main_is_here, thread_is_here;

static void *partner(void *arg) {
    from_thread = 1; // NORACE: from_thread
    sem_post(&thread_is_here);
    sem_wait(&main_is_here);
    seen_by_thread = from_main; // RACE: from_main with line 24
    return arg;
}

int main(void) {
    pthread_t thread;
    sem_init(&main_is_here, 0, 0);
    sem_init(&thread_is_here, 0, 0);
    pthread_create(&thread, NULL, partner, NULL);
    sem_post(&main_is_here);
    from_main = 1; // RACE: from_main with line 14
    sem_wait(&thread_is_here);
    seen_by_main = from_thread; // NORACE: from_thread
    pthread_join(thread, NULL);
    sem_destroy(&main_is_here);
    sem_destroy(&thread_is_here);
    return 0;
}
