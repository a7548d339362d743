// Main joins the parent and believes that its detached child has ended as well.
#include <pthread.h>
#include <semaphore.h>

int inheritance;
int seen;
sem_t finished;

static void *orphan(void *arg) {
    (void)arg;
    inheritance = 42; // RACE: inheritance with line 29
    sem_post(&finished);
    return NULL;
}

static void *parent(void *arg) {
    (void)arg;
    pthread_t thread;
    pthread_create(&thread, NULL, orphan, NULL);
    pthread_detach(thread);
    return NULL;
}

int main(void) {
    pthread_t thread;
    sem_init(&finished, 0, 0);
    pthread_create(&thread, NULL, parent, NULL);
    pthread_join(thread, NULL);
    seen = inheritance; // RACE: inheritance with line 11
    sem_wait(&finished);
    return 0;
}
