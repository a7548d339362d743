// After "maximal", table 1, montecarlo: two threads follow made-up prices of a share along random paths, and main takes the mean of where they ended.
//
// Verdict: each task has its own random numbers and its own place in the results, tasks are handed out under the lock, and main reads the
// results after both threads have ended.
//
// NORACE
// EXPECT-STDOUT: 20 paths, mean above 90
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 20, STEPS = 12, THREADS = 2 };

typedef struct {
    unsigned seed;
    double last;
} Task;

Task tasks[MOST];
int task_count;
int next_task;
int finished;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static Task *take(void) {
    pthread_mutex_lock(&lock);
    Task *task = next_task < task_count ? &tasks[next_task++] : NULL; // NORACE: next_task
    pthread_mutex_unlock(&lock);
    return task;
}

static double follow_path(unsigned seed) {
    double price = 100;
    for (int i = 0; i < STEPS; i++) {
        seed = seed * 1103515245u + 12345u;
        double shock = (double)(seed >> 16 & 0x7fff) / 0x7fff - 0.5;
        price *= 1 + 0.02 * shock;
    }
    return price;
}

static void *worker(void *arg) {
    (void)arg;
    for (Task *task = take(); task != NULL; task = take()) {
        task->last = follow_path(task->seed); // NORACE: tasks
        pthread_mutex_lock(&lock);
        finished++; // NORACE: finished
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(int argc, char **argv) {
    task_count = argc > 1 ? atoi(argv[1]) : 20;
    if (task_count < 1 || task_count > MOST)
        return 2;
    for (int i = 0; i < task_count; i++)
        tasks[i].seed = (unsigned)i + 1; // NORACE: tasks
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    double sum = 0;
    for (int i = 0; i < task_count; i++)
        sum += tasks[i].last; // NORACE: tasks
    printf("%d paths, mean %s 90\n", finished, sum / task_count > 90 ? "above" : "below");
    return 0;
}
