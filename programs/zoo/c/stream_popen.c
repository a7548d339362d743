// A thread reads what another program prints, which takes its time; others go on meanwhile, and nobody takes it for a deadlock.
//
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: outside, and 1
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/wait.h>

sem_t ready;
int value;

static void *reader(void *arg) {
    char line[32] = "";
    FILE *from = popen("sleep 0.2; echo outside", "r");
    if (from == NULL || fgets(line, sizeof line, from) == NULL)
        return arg;
    int status = pclose(from);
    sem_wait(&ready);
    printf("%.7s, and %d\n", line, WIFEXITED(status) ? value : 0); // NORACE: value
    return arg;
}

int main(void) {
    pthread_t thread;
    sem_init(&ready, 0, 0);
    pthread_create(&thread, NULL, reader, NULL);
    value = 1; // NORACE: value
    sem_post(&ready);
    pthread_join(thread, NULL);
    return 0;
}
