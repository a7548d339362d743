//: join | own | pthread_join | the thread's end
static void *thread$(void *arg) {
    write$();
    return arg;
}
static long run$(void) {
    pthread_t thread;
    must(pthread_create(&thread, NULL, thread$, NULL) == 0);
    must(pthread_join(thread, NULL) == 0);
    return read$();
}

//: join_exit | own | pthread_join of pthread_exit | the thread's end
static int place$;
static void deeper$(void) {
    write$();
    pthread_exit(&place$);
}
static void *thread$(void *arg) {
    deeper$();
    return arg;
}
static long run$(void) {
    pthread_t thread;
    void *result = NULL;
    must(pthread_create(&thread, NULL, thread$, NULL) == 0);
    must(pthread_join(thread, &result) == 0 && result == &place$);
    return read$();
}

//: join_timed | own | pthread_timedjoin_np in a loop | the thread's end, or time
static void *thread$(void *arg) {
    write$();
    return arg;
}
static long run$(void) {
    pthread_t thread;
    struct timespec until;
    must(pthread_create(&thread, NULL, thread$, NULL) == 0);
    do
        until = soon(CLOCK_REALTIME);
    while (pthread_timedjoin_np(thread, NULL, &until) != 0);
    return read$();
}

//: join_clock | own | pthread_clockjoin_np in a loop | the thread's end, or time
static void *thread$(void *arg) {
    write$();
    return arg;
}
static long run$(void) {
    pthread_t thread;
    struct timespec until;
    must(pthread_create(&thread, NULL, thread$, NULL) == 0);
    do
        until = soon(CLOCK_MONOTONIC);
    while (pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until) != 0);
    return read$();
}

//: join_try | own | pthread_tryjoin_np in a loop | EBUSY
static void *thread$(void *arg) {
    write$();
    return arg;
}
static long run$(void) {
    pthread_t thread;
    must(pthread_create(&thread, NULL, thread$, NULL) == 0);
    while (pthread_tryjoin_np(thread, NULL) != 0)
        sched_yield();
    return read$();
}

//: create | own | pthread_create, pthread_join | the thread's end
static void *thread$(void *arg) {
    long *value = arg;
    *value = read$();
    return arg;
}
static long run$(void) {
    pthread_t thread;
    long value = 0;
    write$();
    must(pthread_create(&thread, NULL, thread$, &value) == 0);
    must(pthread_join(thread, NULL) == 0);
    return value;
}

//: detached | own | sem_wait for a detached thread | any thread
static sem_t sem$;
static void *thread$(void *arg) {
    must(pthread_detach(pthread_self()) == 0);
    write$();
    must(sem_post(&sem$) == 0);
    return arg;
}
static long run$(void) {
    pthread_t thread;
    must(sem_init(&sem$, 0, 0) == 0);
    must(pthread_create(&thread, NULL, thread$, NULL) == 0);
    down(&sem$);
    return read$();
}

//: tsd | own | pthread_join after a destructor of thread-specific data | the thread's end
static pthread_key_t key$;
static void destroy$(void *value) {
    must(value == &key$);
    write$();
}
static void *thread$(void *arg) {
    must(pthread_setspecific(key$, &key$) == 0);
    return arg;
}
static long run$(void) {
    pthread_t thread;
    must(pthread_key_create(&key$, destroy$) == 0);
    must(pthread_create(&thread, NULL, thread$, NULL) == 0);
    must(pthread_join(thread, NULL) == 0);
    must(pthread_key_delete(key$) == 0);
    return read$();
}

//: tsd_post | own | sem_wait for a destructor of a detached thread | any thread
static pthread_key_t key$;
static sem_t sem$;
static void destroy$(void *value) {
    write$();
    must(sem_post(value) == 0);
}
static void *thread$(void *arg) {
    must(pthread_setspecific(key$, &sem$) == 0);
    return arg;
}
static long run$(void) {
    pthread_t thread;
    pthread_attr_t attr;
    must(sem_init(&sem$, 0, 0) == 0);
    must(pthread_key_create(&key$, destroy$) == 0);
    must(pthread_attr_init(&attr) == 0);
    must(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0);
    must(pthread_create(&thread, &attr, thread$, NULL) == 0);
    down(&sem$);
    return read$();
}

//: c11_thread | own | thrd_join, tss_create | the thread's end
static tss_t key$;
static void destroy$(void *value) {
    must(value == &key$);
    write$();
}
static int thread$(void *arg) {
    (void)arg;
    must(tss_set(key$, &key$) == thrd_success && tss_get(key$) == &key$);
    thrd_yield();
    thrd_exit(7);
}
static long run$(void) {
    thrd_t thread;
    int result = 0;
    must(tss_create(&key$, destroy$) == thrd_success);
    must(thrd_create(&thread, thread$, NULL) == thrd_success);
    must(thrd_join(thread, &result) == thrd_success && result == 7);
    tss_delete(key$);
    return read$();
}

//: cleanup | own | pthread_join of a cancelled thread with a cleanup handler | cancellation
static sem_t never$;
static void clean$(void *arg) {
    (void)arg;
    write$();
}
static sem_t pushed$;
static void *thread$(void *arg) {
    pthread_cleanup_push(clean$, NULL);
    sem_post(&pushed$);
    for (;;)
        sem_wait(&never$);
    pthread_cleanup_pop(0);
    return arg;
}
static long run$(void) {
    pthread_t thread;
    void *result;
    must(sem_init(&never$, 0, 0) == 0 && sem_init(&pushed$, 0, 0) == 0);
    must(pthread_create(&thread, NULL, thread$, NULL) == 0);
    down(&pushed$);
    must(pthread_cancel(thread) == 0);
    must(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    return read$();
}
