// Four threads ask one resolver for names that it knows itself: they wait for some answers, and let the
// resolver's own thread bring the others.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unbound.h"

enum { THREADS = 4, ASKED = 6 };

static struct ub_ctx *resolver;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int answered, later;

static void is_fine(int error) {
    if (error != 0) {
        fprintf(stderr, "%s\n", ub_strerror(error));
        exit(1);
    }
}

static int counts(const struct ub_result *result) {
    return result->havedata && memcmp(result->data[0], "\x01\x02\x03", 3) == 0;
}

// Called by whoever looks for answers.
static void arrived(void *nothing, int error, struct ub_result *result) {
    (void)nothing;
    is_fine(error);
    pthread_mutex_lock(&lock);
    later += counts(result);
    pthread_mutex_unlock(&lock);
    ub_resolve_free(result);
}

static void *work(void *number) {
    for (int i = 0; i < ASKED; i++) {
        char name[32];
        snprintf(name, sizeof name, "h%d.test.", (*(int *)number + i) % THREADS);
        if (i % 2) {
            is_fine(ub_resolve_async(resolver, name, 1, 1, NULL, arrived, NULL));
            continue;
        }
        struct ub_result *result;
        is_fine(ub_resolve(resolver, name, 1, 1, &result));
        pthread_mutex_lock(&lock);
        answered += counts(result);
        pthread_mutex_unlock(&lock);
        ub_resolve_free(result);
    }
    return NULL;
}

int main(void) {
    resolver = ub_ctx_create();
    is_fine(ub_ctx_async(resolver, 1));
    is_fine(ub_ctx_zone_add(resolver, "test.", "static"));
    for (int i = 0; i < THREADS; i++) {
        char data[64];
        snprintf(data, sizeof data, "h%d.test. IN A 1.2.3.%d", i, i);
        is_fine(ub_ctx_data_add(resolver, data));
    }
    pthread_t threads[THREADS];
    int numbers[THREADS] = {0, 1, 2, 3};
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    is_fine(ub_wait(resolver));
    printf("%d answers, %d later\n", answered, later);
    ub_ctx_delete(resolver);
    return 0;
}
