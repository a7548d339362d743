// Tries the library: some threads work on a common list of jobs and tell what they do, while others change levels and files.
#include "ctrace.h"

#include <stdlib.h>
#include <string.h>

enum { WORKERS = 4, JOBS = 200 };

struct job {
    struct job *next;
    int number;
    int result;
};

struct jobs {
    pthread_mutex_t lock;
    pthread_cond_t has_job;
    struct job *first;
    int is_closed;
    int waiting;
};

static struct jobs open_jobs;
static struct jobs done_jobs;

static int unit_main;
static int unit_queue;
static int unit_work;

static int finished;
static int failures;
static pthread_mutex_t finished_lock = PTHREAD_MUTEX_INITIALIZER;

static void jobs_start(struct jobs *jobs) {
    pthread_mutex_init(&jobs->lock, NULL);
    pthread_cond_init(&jobs->has_job, NULL);
    jobs->first = NULL;             // NORACE
    jobs->is_closed = 0;            // NORACE
    jobs->waiting = 0;              // NORACE
}

static void jobs_add(struct jobs *jobs, struct job *job) {
    trc_enter(unit_queue, "jobs_add");
    pthread_mutex_lock(&jobs->lock);
    job->next = jobs->first;        // NORACE (warned)
    jobs->first = job;              // NORACE
    jobs->waiting++;                // NORACE
    pthread_cond_signal(&jobs->has_job);
    pthread_mutex_unlock(&jobs->lock);
    trc_leave(unit_queue, "jobs_add");
}

// The next job; none if there will not be another.
static struct job *jobs_take(struct jobs *jobs) {
    pthread_mutex_lock(&jobs->lock);
    while (jobs->first == NULL && !jobs->is_closed) // NORACE
        pthread_cond_wait(&jobs->has_job, &jobs->lock);
    struct job *job = jobs->first;  // NORACE
    if (job != NULL) {
        jobs->first = job->next;    // NORACE (warned)
        jobs->waiting--;            // NORACE
    }
    pthread_mutex_unlock(&jobs->lock);
    return job;
}

static void jobs_close(struct jobs *jobs) {
    pthread_mutex_lock(&jobs->lock);
    jobs->is_closed = 1;            // NORACE
    pthread_cond_broadcast(&jobs->has_job);
    pthread_mutex_unlock(&jobs->lock);
}

static int collatz(int number) {
    int steps = 0;
    while (number > 1) {
        number = number % 2 ? 3 * number + 1 : number / 2;
        steps++;
    }
    return steps;
}

static void *work(void *argument) {
    const char *name = argument;
    trc_add_thread(name);
    trc_print(unit_work, TRC_INFO, "%s begins", name);
    struct job *job;
    while ((job = jobs_take(&open_jobs)) != NULL) {
        trc_enter(unit_work, "collatz");
        job->result = collatz(job->number); // NORACE (warned)
        trc_leave(unit_work, "collatz");
        if (job->result > 100) {
            trc_print(unit_work, TRC_WARNING, "%d takes %d steps", job->number, job->result);
            failures++;             // RACE!
        }
        jobs_add(&done_jobs, job);
        pthread_mutex_lock(&finished_lock);
        finished++;                 // RACE!
        pthread_mutex_unlock(&finished_lock);
    }
    trc_print(unit_work, TRC_INFO, "%s ends", name);
    return NULL;
}

// Changes its mind about what is worth telling.
static void *fidget(void *unused) {
    trc_add_thread("fidget");
    for (int level = TRC_ERROR; level <= TRC_DEBUG; level++) {
        trc_set_level(unit_queue, level);
        trc_off();
        if (finished > JOBS / 2)    // RACE!
            trc_rotate("ctrace.next");
        trc_on();
    }
    return unused;
}

static void report(void) {
    trc_list_units(stdout);
    printf("%lu messages, %lu written, %lu bytes, %d threads\n", trc_messages(), trc_written(), trc_bytes(),
           trc_threads());
}

static int make_jobs(void) {
    for (int i = 1; i <= JOBS; i++) {
        struct job *job = malloc(sizeof *job);
        if (job == NULL)
            return 0;
        job->number = i;            // NORACE
        job->result = 0;            // NORACE
        jobs_add(&open_jobs, job);
    }
    return 1;
}

static int count_done(void) {
    int count = 0;
    struct job *job;
    while ((job = jobs_take(&done_jobs)) != NULL) {
        count++;
        free(job);
    }
    return count;
}

int main(void) {
    static const char *const names[WORKERS] = {"anna", "bert", "cora", "dirk"};
    pthread_t workers[WORKERS], fidgeter;
    jobs_start(&open_jobs);
    jobs_start(&done_jobs);
    if (!trc_start("ctrace.out"))
        return 1;
    unit_main = trc_add_unit("main", TRC_INFO);
    unit_queue = trc_add_unit("queue", TRC_ERROR);
    unit_work = trc_add_unit("work", TRC_INFO);
    trc_add_thread("main");
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, (void *)names[i]);
    pthread_create(&fidgeter, NULL, fidget, NULL);
    trc_print(unit_main, TRC_INFO, "%d workers", WORKERS);
    int is_made = make_jobs();
    jobs_close(&open_jobs);
    report();
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    pthread_join(fidgeter, NULL);
    jobs_close(&done_jobs);
    trc_print(unit_main, TRC_ALWAYS, "%d jobs are done, %d took long", finished, failures); // NORACE
    int is_right = count_done() == JOBS;
    trc_stop();
    report();
    return is_made && is_right ? 0 : 1;
}
