// A pool of two workers takes jobs from a list under a lock; results are counted under the same lock and awaited
// with a condition variable. What a job reads and writes lies outside the lock and belongs to one side at
// a time.
//
// NORACE
// EXPECT-STDOUT: sum 14
#include <pthread.h>
#include <stdio.h>

enum { JOBS = 3 };
struct job {
    int input, output;
} jobs[JOBS];
int taken, done;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *worker(void *arg) {
    pthread_mutex_lock(&lock);
    while (taken < JOBS) { // NORACE: taken
        struct job *job = &jobs[taken++]; // NORACE: taken
        pthread_mutex_unlock(&lock);
        job->output = job->input * job->input; // NORACE: input, output
        pthread_mutex_lock(&lock);
        done++; // NORACE: done
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    int sum = 0;
    for (int i = 0; i < JOBS; i++)
        jobs[i].input = i + 1; // NORACE: input
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    pthread_mutex_lock(&lock);
    while (done < JOBS) // NORACE: done
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < JOBS; i++)
        sum += jobs[i].output; // NORACE: output
    printf("sum %d\n", sum);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
