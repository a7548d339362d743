//: alarm_suspend | own, uses alarm, slow | sigsuspend, alarm | a timer's signal
static volatile sig_atomic_t is$;
static void arrive$(int number) {
    (void)number;
    is$ = 1;
}
static long run$(void) {
    sigset_t set;
    handle(SIGALRM, arrive$);
    must(pthread_sigmask(SIG_SETMASK, NULL, &set) == 0);
    sigdelset(&set, SIGALRM);
    alarm(1);
    while (!is$)
        sigsuspend(&set);
    return good$(1);
}

//: itimer_pause | own, uses alarm | pause, setitimer | a timer's signal
static volatile sig_atomic_t is$;
static void arrive$(int number) {
    (void)number;
    is$++;
}
static long run$(void) {
    struct itimerval every = {{0, 5000}, {0, 5000}}, off = {{0, 0}, {0, 0}};
    handle(SIGALRM, arrive$);
    mask(SIG_UNBLOCK, SIGALRM);
    must(setitimer(ITIMER_REAL, &every, NULL) == 0);
    while (is$ < 2)
        pause();
    must(setitimer(ITIMER_REAL, &off, NULL) == 0);
    mask(SIG_BLOCK, SIGALRM);
    return good$(1);
}

//: timer_post | own | sem_wait, timer_create | a timer's signal
static sem_t sem$;
static void arrive$(int number) {
    (void)number;
    sem_post(&sem$);
}
static long run$(void) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGNAL$};
    struct itimerspec once = {{0, 0}, {0, 5000000}};
    timer_t timer;
    must(sem_init(&sem$, 0, 0) == 0);
    handle(SIGNAL$, arrive$);
    mask(SIG_UNBLOCK, SIGNAL$);
    must(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    must(timer_settime(timer, 0, &once, NULL) == 0);
    down(&sem$);
    mask(SIG_BLOCK, SIGNAL$);
    must(timer_delete(timer) == 0);
    return good$(1);
}

//: timer_sigwait | own | sigwaitinfo, timer_create | a timer's signal
static long run$(void) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGNAL$,
                             .sigev_value = {.sival_int = 8}};
    struct itimerspec once = {{0, 0}, {0, 5000000}};
    sigset_t set = only(SIGNAL$);
    siginfo_t info;
    timer_t timer;
    must(timer_create(CLOCK_REALTIME, &event, &timer) == 0);
    must(timer_settime(timer, 0, &once, NULL) == 0);
    must(sigwaitinfo(&set, &info) == SIGNAL$ && info.si_value.sival_int == 8);
    must(timer_delete(timer) == 0);
    return good$(1);
}

//: timer_thread | own | sem_wait, SIGEV_THREAD | a thread of libc's own
static sem_t sem$;
static void arrive$(union sigval value) {
    write$();
    sem_post(value.sival_ptr);
}
static long run$(void) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = arrive$,
                             .sigev_value = {.sival_ptr = &sem$}};
    struct itimerspec once = {{0, 0}, {0, 5000000}};
    timer_t timer;
    must(sem_init(&sem$, 0, 0) == 0);
    must(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    must(timer_settime(timer, 0, &once, NULL) == 0);
    down(&sem$);
    must(timer_delete(timer) == 0);
    return read$();
}

//: notify_thread | own | pthread_cond_wait, mq_notify with SIGEV_THREAD | a thread of libc's own
static pthread_mutex_t lock$ = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed$ = PTHREAD_COND_INITIALIZER;
static int is$;
static void arrive$(union sigval value) {
    (void)value;
    pthread_mutex_lock(&lock$);
    write$();
    is$ = 1;
    pthread_cond_signal(&changed$);
    pthread_mutex_unlock(&lock$);
}
static long run$(void) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = arrive$};
    mqd_t mine = queue(0);
    must(mq_notify(mine, &event) == 0);
    must(mq_send(mine, "x", 1, 0) == 0);
    pthread_mutex_lock(&lock$);
    while (!is$)
        pthread_cond_wait(&changed$, &lock$);
    pthread_mutex_unlock(&lock$);
    must(mq_close(mine) == 0);
    return read$();
}

//: aio_suspend | own | aio_suspend | a thread of libc's own
static long run$(void) {
    static char bytes[3];
    int ends[2];
    must(pipe(ends) == 0);
    struct aiocb one = {.aio_fildes = ends[0], .aio_buf = bytes, .aio_nbytes = 3};
    const struct aiocb *all[1] = {&one};
    write$();
    must(aio_read(&one) == 0);
    must(write(ends[1], "abc", 3) == 3);
    while (aio_error(&one) == EINPROGRESS)
        must(aio_suspend(all, 1, NULL) == 0 || errno == EINTR);
    must(aio_return(&one) == 3 && bytes[2] == 'c');
    return read$();
}

//: aio_thread | own | sem_wait, aio_write with SIGEV_THREAD | a thread of libc's own
static sem_t sem$;
static void arrive$(union sigval value) {
    write$();
    sem_post(value.sival_ptr);
}
static long run$(void) {
    static char bytes[3] = "abc";
    struct aiocb one = {.aio_fildes = nameless(), .aio_buf = bytes, .aio_nbytes = 3,
                        .aio_sigevent = {.sigev_notify = SIGEV_THREAD,
                                         .sigev_notify_function = arrive$,
                                         .sigev_value = {.sival_ptr = &sem$}}};
    must(sem_init(&sem$, 0, 0) == 0);
    must(aio_write(&one) == 0);
    down(&sem$);
    while (aio_error(&one) == EINPROGRESS)
        sched_yield();
    must(aio_return(&one) == 3);
    return read$();
}

//: aio_signal | own | sigwait, aio_write with SIGEV_SIGNAL | a thread of libc's own
static long run$(void) {
    static char bytes[3] = "abc";
    struct aiocb one = {.aio_fildes = nameless(), .aio_buf = bytes, .aio_nbytes = 3,
                        .aio_sigevent = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGNAL$}};
    sigset_t set = only(SIGNAL$);
    int number;
    must(aio_write(&one) == 0);
    must(sigwait(&set, &number) == 0);
    while (aio_error(&one) == EINPROGRESS)
        sched_yield();
    return good$(aio_return(&one) == 3);
}

//: lio_listio | own | lio_listio, LIO_WAIT | a thread of libc's own
static long run$(void) {
    static char bytes[3] = "abc";
    struct aiocb one = {.aio_fildes = nameless(), .aio_buf = bytes, .aio_nbytes = 3,
                        .aio_lio_opcode = LIO_WRITE};
    struct aiocb *all[1] = {&one};
    must(lio_listio(LIO_WAIT, all, 1, NULL) == 0);
    return good$(aio_return(&one) == 3);
}

//: interrupted_sem | own, uses alarm | sem_wait, interrupted | EINTR, by a timer
static void arrive$(int number) { (void)number; }
static long run$(void) {
    struct itimerval every = {{0, 5000}, {0, 5000}}, off = {{0, 0}, {0, 0}};
    sem_t sem;
    must(sem_init(&sem, 0, 0) == 0);
    handle(SIGALRM, arrive$);
    mask(SIG_UNBLOCK, SIGALRM);
    must(setitimer(ITIMER_REAL, &every, NULL) == 0);
    int result = sem_wait(&sem) == -1 && errno == EINTR;
    must(setitimer(ITIMER_REAL, &off, NULL) == 0);
    mask(SIG_BLOCK, SIGALRM);
    return good$(result);
}

//: interrupted_read | own, uses alarm | read of a pipe, poll, nanosleep, interrupted | EINTR, by a timer
static void arrive$(int number) { (void)number; }
static long run$(void) {
    struct itimerval every = {{0, 5000}, {0, 5000}}, off = {{0, 0}, {0, 0}};
    struct timespec time = {1000, 0};
    int ends[2];
    char byte;
    must(pipe(ends) == 0);
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    handle(SIGALRM, arrive$);
    mask(SIG_UNBLOCK, SIGALRM);
    must(setitimer(ITIMER_REAL, &every, NULL) == 0);
    int result = read(ends[0], &byte, 1) == -1 && errno == EINTR;
    result &= poll(&one, 1, -1) == -1 && errno == EINTR;
    result &= nanosleep(&time, NULL) == -1 && errno == EINTR;
    must(setitimer(ITIMER_REAL, &off, NULL) == 0);
    mask(SIG_BLOCK, SIGALRM);
    return good$(result);
}

//: interrupted_queue | own, uses alarm | mq_receive, msgrcv, semop, sigwaitinfo, interrupted | EINTR, by a timer
static void arrive$(int number) { (void)number; }
static long run$(void) {
    struct itimerval every = {{0, 5000}, {0, 5000}}, off = {{0, 0}, {0, 0}};
    struct {
        long kind;
        char text[8];
    } message;
    mqd_t mine = queue(0);
    int messages = msgget(IPC_PRIVATE, 0600), sem = semget(IPC_PRIVATE, 1, 0600);
    struct sembuf down = {0, -1, 0};
    sigset_t set = only(SIGNAL$);
    handle(SIGALRM, arrive$);
    mask(SIG_UNBLOCK, SIGALRM);
    must(setitimer(ITIMER_REAL, &every, NULL) == 0);
    int result = mq_receive(mine, message.text, 8, NULL) == -1 && errno == EINTR;
    result &= msgrcv(messages, &message, 8, 0, 0) == -1 && errno == EINTR;
    result &= semop(sem, &down, 1) == -1 && errno == EINTR;
    result &= sigwaitinfo(&set, NULL) == -1 && errno == EINTR;
    must(setitimer(ITIMER_REAL, &off, NULL) == 0);
    mask(SIG_BLOCK, SIGALRM);
    must(msgctl(messages, IPC_RMID, NULL) == 0 && semctl(sem, 0, IPC_RMID) == 0);
    return good$(result);
}

//: interrupted_often | own | sem_wait, interrupted until it is posted | EINTR, by pthread_kill
static sem_t sem$;
static atomic_int is$;
static void arrive$(int number) { (void)number; }
static void *thread$(void *arg) {
    mask(SIG_UNBLOCK, SIGNAL$);
    must(sem_wait(&sem$) == -1 && errno == EINTR);
    atomic_store(&is$, 1);
    return arg;
}
static long run$(void) {
    pthread_t thread;
    must(sem_init(&sem$, 0, 0) == 0);
    handle(SIGNAL$, arrive$);
    must(pthread_create(&thread, NULL, thread$, NULL) == 0);
    while (!atomic_load(&is$)) {
        pthread_kill(thread, SIGNAL$);
        sched_yield();
    }
    must(pthread_join(thread, NULL) == 0);
    return good$(1);
}

//: jump_out | own, uses alarm | pause, siglongjmp out of a handler | a timer's signal
static sigjmp_buf place$;
static void arrive$(int number) {
    (void)number;
    siglongjmp(place$, 1);
}
static long run$(void) {
    struct itimerval once = {{0, 0}, {0, 5000}};
    handle(SIGALRM, arrive$);
    if (sigsetjmp(place$, 1) == 0) {
        mask(SIG_UNBLOCK, SIGALRM);
        must(setitimer(ITIMER_REAL, &once, NULL) == 0);
        for (;;)
            pause();
    }
    mask(SIG_BLOCK, SIGALRM);
    return good$(1);
}

//: jump_out_read | own, uses alarm | read of a pipe, siglongjmp out of a handler | a timer's signal
static sigjmp_buf place$;
static void arrive$(int number) {
    (void)number;
    siglongjmp(place$, 1);
}
static long run$(void) {
    struct itimerval once = {{0, 0}, {0, 5000}};
    int ends[2];
    char byte;
    must(pipe(ends) == 0);
    handle(SIGALRM, arrive$);
    if (sigsetjmp(place$, 1) == 0) {
        mask(SIG_UNBLOCK, SIGALRM);
        must(setitimer(ITIMER_REAL, &once, NULL) == 0);
        must(read(ends[0], &byte, 1) == 1);
    }
    mask(SIG_BLOCK, SIGALRM);
    return good$(1);
}

//: restarted | own, uses alarm | read of a pipe, SA_RESTART, written by a handler | a timer's signal
static int ends$[2];
static void arrive$(int number) {
    (void)number;
    if (write(ends$[1], "x", 1) != 1)
        _exit(4);
}
static long run$(void) {
    struct itimerval once = {{0, 0}, {0, 5000}};
    struct sigaction action;
    char byte;
    memset(&action, 0, sizeof action);
    action.sa_handler = arrive$;
    action.sa_flags = SA_RESTART;
    must(pipe(ends$) == 0 && sigaction(SIGALRM, &action, NULL) == 0);
    mask(SIG_UNBLOCK, SIGALRM);
    must(setitimer(ITIMER_REAL, &once, NULL) == 0);
    must(read(ends$[0], &byte, 1) == 1);
    mask(SIG_BLOCK, SIGALRM);
    return good$(1);
}
