// After "prefix", table 1, hedc: the kernel of a crawler that asks several archives at once. Tasks wait in a pool; workers take them, read a part of a
// page of a small made-up web, put them back, and in the end follow the links with tasks of their own; whoever asked takes answers as they come and, when
// there are enough, cancels the tasks that are left.
//
// Verdict: a worker adds to the result of its task without a lock and says under pool_lock that it has, after which it is the next worker's, or whoever asked takes it. Cancelling a task
// that waits keeps workers from taking it, and one that is done is left alone; but of one that is running the
// result is taken away at once, while its worker may be writing it: a race, as in the original. It needs a task that
// is running just then: in most runs all are waiting or done. States, links and counts are under pool_lock.
//
// EXPECT-STDOUT: enough answers
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    PAGES = 8,
    PARTS = 2, // in which a page comes
    LINKS = 2,
    ROOTS = 4, // pages to begin with
    ENOUGH = 3,
    TASKS = PAGES,
    MOST_WORKERS = 16,
    NONE = -1,
};

typedef enum { UNUSED, WAITING, RUNNING, DONE, CANCELLED } State;

// A page of the web: how good an answer it is, and where it leads.
typedef struct {
    int score;
    int links[LINKS];
} Page;

// Something to read.
typedef struct {
    State state;
    int page;
    int part; // the next one
    int result;
} Task;

// What a worker is to do.
typedef struct {
    Task *task;
    int page;
    int part;
} Job;

const Page web[PAGES] = {
    {7, {1, 2}}, {3, {3, NONE}}, {9, {4, 5}},    {4, {6, NONE}},
    {8, {7, 0}}, {2, {NONE, NONE}}, {6, {2, 1}}, {5, {NONE, NONE}},
};

Task tasks[TASKS];
int task_count;
int done_count;
int unfinished; // tasks that wait or run
int is_over;
int known[PAGES]; // pages that have a task
pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t work = PTHREAD_COND_INITIALIZER;
pthread_cond_t answers = PTHREAD_COND_INITIALIZER;

// Adds a task for a page, unless there is one. With pool_lock held.
static void submit(int page) {
    if (page == NONE || known[page] || is_over)
        return;
    known[page] = 1;
    Task *task = &tasks[task_count++]; // NORACE: task_count
    task->page = page;
    task->state = WAITING;
    unfinished++;
    pthread_cond_signal(&work);
}

// The next task that waits; 0 when there will be none.
static int take(Job *job) {
    job->task = NULL;
    pthread_mutex_lock(&pool_lock);
    while (job->task == NULL && !is_over) {
        for (int i = 0; i < task_count && job->task == NULL; i++) {
            if (tasks[i].state == WAITING)
                job->task = &tasks[i];
        }
        if (job->task == NULL)
            pthread_cond_wait(&work, &pool_lock);
    }
    if (job->task != NULL) {
        job->task->state = RUNNING; // NORACE: tasks
        job->page = job->task->page;
        job->part = job->task->part;
    }
    pthread_mutex_unlock(&pool_lock);
    return job->task != NULL;
}

// What a part of a page is worth: the first has its own score, each has something for where it leads.
static int read_part(int page, int part) {
    int score = part == 0 ? web[page].score * 10 : 0;
    int link = web[page].links[part];
    return link == NONE ? score : score + web[link].score;
}

// Says that a part was read: the task goes back to the pool, or is done and its links are followed.
static void complete(const Job *job) {
    Task *task = job->task;
    pthread_mutex_lock(&pool_lock);
    if (task->state == RUNNING && ++task->part < PARTS) {
        task->state = WAITING; // NORACE: tasks
        pthread_cond_signal(&work);
    } else if (task->state == RUNNING) {
        task->state = DONE; // NORACE: tasks
        done_count++;
        unfinished--;
        for (int i = 0; i < LINKS; i++)
            submit(web[job->page].links[i]);
        pthread_cond_signal(&answers);
    }
    pthread_mutex_unlock(&pool_lock);
}

static void *worker(void *arg) {
    (void)arg;
    Job job;
    while (take(&job)) {
        int score = read_part(job.page, job.part);
        job.task->result += score; // RACE: tasks with line 151
        complete(&job);
    }
    return NULL;
}

// Waits until there are enough answers, or no more to come.
static void wait_for_answers(void) {
    pthread_mutex_lock(&pool_lock);
    while (done_count < ENOUGH && unfinished > 0)
        pthread_cond_wait(&answers, &pool_lock);
    pthread_mutex_unlock(&pool_lock);
}

// Nobody wants this one any more.
static void cancel(Task *task) {
    pthread_mutex_lock(&pool_lock);
    State before = task->state;
    if (before == WAITING || before == RUNNING) {
        task->state = CANCELLED; // NORACE: tasks
        unfinished--;
    }
    pthread_mutex_unlock(&pool_lock);
    if (before == RUNNING)
        task->result = NONE; // RACE: tasks with line 127
}

static void cancel_rest(void) {
    pthread_mutex_lock(&pool_lock);
    is_over = 1;
    int count = task_count;
    pthread_cond_broadcast(&work);
    pthread_mutex_unlock(&pool_lock);
    for (int i = 0; i < count; i++)
        cancel(&tasks[i]);
}

// The best answer of all that have come, which are taken. A task that is done stays so: its result is nobody else's.
static int best_answer(void) {
    int best = NONE;
    for (int i = 0; i < TASKS; i++) {
        pthread_mutex_lock(&pool_lock);
        int is_done = tasks[i].state == DONE;
        pthread_mutex_unlock(&pool_lock);
        if (!is_done)
            continue;
        if (tasks[i].result > best) // NORACE: tasks
            best = tasks[i].result; // NORACE: tasks
        tasks[i].result = NONE; // NORACE: tasks
    }
    return best;
}

int main(int argc, char **argv) {
    int workers = argc > 1 ? atoi(argv[1]) : 2;
    if (workers < 1 || workers > MOST_WORKERS)
        return 2;
    pthread_mutex_lock(&pool_lock);
    for (int i = 0; i < ROOTS; i++)
        submit(i);
    pthread_mutex_unlock(&pool_lock);
    pthread_t threads[MOST_WORKERS];
    for (int i = 0; i < workers; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    wait_for_answers();
    cancel_rest();
    int best = best_answer();
    for (int i = 0; i < workers; i++)
        pthread_join(threads[i], NULL);
    printf("%s\n", best > 0 ? "enough answers" : "too few");
    return 0;
}
