// The C half: two threads that call a function again and again.
//
// NORACE
// PART-OF: callback.rs
#include <pthread.h>

typedef void callback_function(const void *data, int number);

struct job {
    callback_function *callback;
    const void *data;
    int calls;
};

static void *run(void *arg) {
    const struct job *job = arg;
    for (int i = 0; i < job->calls; i++)
        job->callback(job->data, i); // NORACE: job
    return NULL;
}

int call_from_threads(callback_function *callback, const void *data, int calls);
int call_from_threads(callback_function *callback, const void *data, int calls) {
    struct job job = {callback, data, calls}; // NORACE: job
    pthread_t first, second;
    if (pthread_create(&first, NULL, run, &job) != 0)
        return 1;
    if (pthread_create(&second, NULL, run, &job) != 0) {
        pthread_join(first, NULL);
        return 1;
    }
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
