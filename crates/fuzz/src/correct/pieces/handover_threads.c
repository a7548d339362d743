//: cond | handover | pthread_cond_wait | any thread
static pthread_mutex_t lock$ = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed$ = PTHREAD_COND_INITIALIZER;
static int is$;
static void give$(void) {
    pthread_mutex_lock(&lock$);
    is$ = 1;
    pthread_cond_signal(&changed$);
    pthread_mutex_unlock(&lock$);
}
static void take$(void) {
    pthread_mutex_lock(&lock$);
    while (!is$)
        pthread_cond_wait(&changed$, &lock$);
    pthread_mutex_unlock(&lock$);
}

//: cond_outside | handover | pthread_cond_wait, broadcast after unlock | any thread
static pthread_mutex_t lock$ = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed$ = PTHREAD_COND_INITIALIZER;
static int is$;
static void give$(void) {
    pthread_mutex_lock(&lock$);
    is$ = 1;
    pthread_mutex_unlock(&lock$);
    pthread_cond_broadcast(&changed$);
}
static void take$(void) {
    pthread_mutex_lock(&lock$);
    while (!is$)
        pthread_cond_wait(&changed$, &lock$);
    pthread_mutex_unlock(&lock$);
}

//: cond_timedwait | handover | pthread_cond_timedwait in a loop | any thread, or time
static pthread_mutex_t lock$ = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed$ = PTHREAD_COND_INITIALIZER;
static int is$;
static void give$(void) {
    pthread_mutex_lock(&lock$);
    is$ = 1;
    pthread_mutex_unlock(&lock$);
}
static void take$(void) {
    pthread_mutex_lock(&lock$);
    while (!is$) {
        struct timespec until = soon(CLOCK_REALTIME);
        int result = pthread_cond_timedwait(&changed$, &lock$, &until);
        must(result == 0 || result == ETIMEDOUT);
    }
    pthread_mutex_unlock(&lock$);
}

//: cond_clockwait | handover | pthread_cond_clockwait in a loop | any thread, or time
static pthread_mutex_t lock$ = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed$ = PTHREAD_COND_INITIALIZER;
static int is$;
static void give$(void) {
    pthread_mutex_lock(&lock$);
    is$ = 1;
    pthread_cond_signal(&changed$);
    pthread_mutex_unlock(&lock$);
}
static void take$(void) {
    pthread_mutex_lock(&lock$);
    while (!is$) {
        struct timespec until = soon(CLOCK_MONOTONIC);
        pthread_cond_clockwait(&changed$, &lock$, CLOCK_MONOTONIC, &until);
    }
    pthread_mutex_unlock(&lock$);
}

//: sem | handover | sem_wait | any thread
static sem_t sem$;
static void setup$(void) { must(sem_init(&sem$, 0, 0) == 0); }
static void give$(void) { must(sem_post(&sem$) == 0); }
static void take$(void) { down(&sem$); }

//: sem_timedwait | handover | sem_timedwait in a loop | any thread, or time
static sem_t sem$;
static void setup$(void) { must(sem_init(&sem$, 0, 0) == 0); }
static void give$(void) { must(sem_post(&sem$) == 0); }
static void take$(void) {
    struct timespec until;
    do
        until = soon(CLOCK_REALTIME);
    while (sem_timedwait(&sem$, &until) != 0);
}

//: sem_clockwait | handover | sem_clockwait in a loop | any thread, or time
static sem_t sem$;
static void setup$(void) { must(sem_init(&sem$, 0, 0) == 0); }
static void give$(void) { must(sem_post(&sem$) == 0); }
static void take$(void) {
    struct timespec until;
    do
        until = soon(CLOCK_MONOTONIC);
    while (sem_clockwait(&sem$, CLOCK_MONOTONIC, &until) != 0);
}

//: sem_getvalue | handover | sem_trywait in a loop | EAGAIN
static sem_t sem$;
static void setup$(void) { must(sem_init(&sem$, 0, 0) == 0); }
static void give$(void) { must(sem_post(&sem$) == 0); }
static void take$(void) {
    int value;
    while (sem_trywait(&sem$) != 0) {
        must(sem_getvalue(&sem$, &value) == 0);
        sched_yield();
    }
}

//: barrier | handover, meets | pthread_barrier_wait | all threads
static pthread_barrier_t barrier$;
static void setup$(void) { must(pthread_barrier_init(&barrier$, NULL, 2) == 0); }
static void give$(void) { pthread_barrier_wait(&barrier$); }
static void take$(void) { pthread_barrier_wait(&barrier$); }
static void finish$(void) { must(pthread_barrier_destroy(&barrier$) == 0); }

//: barrier_twice | handover, meets | pthread_barrier_wait, destroyed by the serial thread | all threads
static pthread_barrier_t barrier$;
static atomic_int serial$;
static void setup$(void) { must(pthread_barrier_init(&barrier$, NULL, 2) == 0); }
static void meet$(void) {
    int result = pthread_barrier_wait(&barrier$);
    if (result == PTHREAD_BARRIER_SERIAL_THREAD)
        atomic_fetch_add(&serial$, 1);
    result = pthread_barrier_wait(&barrier$);
    must(atomic_load(&serial$) >= 1);
    if (result == PTHREAD_BARRIER_SERIAL_THREAD)
        must(pthread_barrier_destroy(&barrier$) == 0);
}
static void give$(void) { meet$(); }
static void take$(void) { meet$(); }

//: rwlock_poll | handover | pthread_rwlock_rdlock in a loop | the owner
static pthread_rwlock_t lock$ = PTHREAD_RWLOCK_INITIALIZER;
static int is$;
static void give$(void) {
    pthread_rwlock_wrlock(&lock$);
    is$ = 1;
    pthread_rwlock_unlock(&lock$);
}
static void take$(void) {
    for (int seen = 0; !seen; sched_yield()) {
        pthread_rwlock_rdlock(&lock$);
        seen = is$;
        pthread_rwlock_unlock(&lock$);
    }
}

//: mutex_poll | handover, slow | pthread_mutex_lock in a loop | the owner
static pthread_mutex_t lock$ = PTHREAD_MUTEX_INITIALIZER;
static int is$;
static void give$(void) {
    pthread_mutex_lock(&lock$);
    is$ = 1;
    pthread_mutex_unlock(&lock$);
}
static void take$(void) {
    for (int seen = 0; !seen;) {
        pthread_mutex_lock(&lock$);
        seen = is$;
        pthread_mutex_unlock(&lock$);
    }
}

//: once | handover | pthread_once | whoever initialises
static pthread_once_t once$ = PTHREAD_ONCE_INIT;
static atomic_int begun$;
static void init$(void) { atomic_store_explicit(&begun$, 1, memory_order_relaxed); }
static void give$(void) { must(pthread_once(&once$, init$) == 0); }
static void take$(void) {
    while (!atomic_load_explicit(&begun$, memory_order_relaxed))
        sched_yield();
    must(pthread_once(&once$, init$) == 0);
}

//: once_init | own | pthread_once | whoever initialises
static pthread_once_t once$ = PTHREAD_ONCE_INIT;
static void init$(void) { write$(); }
static void *user$(void *arg) {
    must(pthread_once(&once$, init$) == 0);
    must(read$() > 0);
    return arg;
}
static long run$(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        must(pthread_create(&threads[i], NULL, user$, NULL) == 0);
    must(pthread_once(&once$, init$) == 0);
    long value = read$();
    for (int i = 0; i < 2; i++)
        must(pthread_join(threads[i], NULL) == 0);
    return value;
}

//: c11_cnd | handover | cnd_wait | any thread
static mtx_t lock$;
static cnd_t changed$;
static int is$;
static void setup$(void) {
    must(mtx_init(&lock$, mtx_plain) == thrd_success);
    must(cnd_init(&changed$) == thrd_success);
}
static void give$(void) {
    mtx_lock(&lock$);
    is$ = 1;
    cnd_broadcast(&changed$);
    mtx_unlock(&lock$);
}
static void take$(void) {
    mtx_lock(&lock$);
    while (!is$)
        cnd_wait(&changed$, &lock$);
    mtx_unlock(&lock$);
}

//: c11_cnd_timed | handover | cnd_timedwait in a loop | any thread, or time
static mtx_t lock$;
static cnd_t changed$;
static int is$;
static void setup$(void) {
    must(mtx_init(&lock$, mtx_plain) == thrd_success);
    must(cnd_init(&changed$) == thrd_success);
}
static void give$(void) {
    mtx_lock(&lock$);
    is$ = 1;
    mtx_unlock(&lock$);
    cnd_signal(&changed$);
}
static void take$(void) {
    mtx_lock(&lock$);
    while (!is$) {
        struct timespec until = soon(CLOCK_REALTIME);
        cnd_timedwait(&changed$, &lock$, &until);
    }
    mtx_unlock(&lock$);
}

//: c11_call_once | own | call_once | whoever initialises
static once_flag once$ = ONCE_FLAG_INIT;
static void init$(void) { write$(); }
static int user$(void *arg) {
    (void)arg;
    call_once(&once$, init$);
    return read$() > 0;
}
static long run$(void) {
    thrd_t thread;
    int result = 0;
    must(thrd_create(&thread, user$, NULL) == thrd_success);
    call_once(&once$, init$);
    long value = read$();
    must(thrd_join(thread, &result) == thrd_success && result == 1);
    return value;
}

//: futex_wait | handover | futex | any thread
static atomic_int is$;
static void give$(void) {
    atomic_store_explicit(&is$, 1, memory_order_release);
    futex(&is$, FUTEX_WAKE_PRIVATE, 1, NULL);
}
static void take$(void) {
    while (!atomic_load_explicit(&is$, memory_order_acquire))
        futex(&is$, FUTEX_WAIT_PRIVATE, 0, NULL);
}

//: futex_timed | handover | futex with a time limit | any thread, or time
static atomic_int is$;
static void give$(void) { atomic_store(&is$, 1); }
static void take$(void) {
    struct timespec time = {0, 1000000};
    while (!atomic_load(&is$))
        futex(&is$, FUTEX_WAIT, 0, &time);
}
