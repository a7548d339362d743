// Main waits for a semaphore with a lock held that the poster needs first. Usually the post is already there.
//
// NORACE
#include <pthread.h>
#include <semaphore.h>

int total;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
sem_t posted;

static void *poster(void *arg) {
    pthread_mutex_lock(&lock); // DEADLOCK: waits for lock, with line 38
    total++; // NORACE: total
    pthread_mutex_unlock(&lock);
    sem_post(&posted);
    return arg;
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
    pthread_t thread;
    sem_init(&posted, 0, 0);
    pthread_create(&thread, NULL, poster, NULL);
    dawdle();
    pthread_mutex_lock(&lock);
    sem_wait(&posted); // DEADLOCK: waits for posted holding lock, with line 12
    total++; // NORACE: total
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    sem_destroy(&posted);
    return 0;
}
