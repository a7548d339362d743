//: cancel_sem_wait | own | sem_wait | cancellation
static void *thread$(void *arg) {
    sem_t sem;
    sem_init(&sem, 0, 0);
    sem_wait(&sem);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_sem_timedwait | own | sem_timedwait, sem_clockwait | cancellation
static void *thread$(void *arg) {
    sem_t sem;
    struct timespec until;
    sem_init(&sem, 0, 0);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 1000;
    sem_clockwait(&sem, CLOCK_MONOTONIC, &until);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_read | own | read of a pipe | cancellation
static void *thread$(void *arg) {
    int ends[2];
    char byte;
    must(pipe(ends) == 0);
    must(read(ends[0], &byte, 1) == 1);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_write | own | write into a full pipe | cancellation
static void *thread$(void *arg) {
    static char bytes[65536];
    int ends[2];
    must(pipe(ends) == 0 && write(ends[1], bytes, sizeof bytes) == sizeof bytes);
    must(write(ends[1], bytes, 1) == 1);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_recv | own | recv of a socket pair | cancellation
static void *thread$(void *arg) {
    int ends[2];
    char byte;
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    must(recv(ends[0], &byte, 1, 0) == 1);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_accept | own | accept | cancellation
static void *thread$(void *arg) {
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    must(listen(listener, 1) == 0);
    must(accept(listener, NULL, NULL) >= 0);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_nanosleep | own | nanosleep | cancellation
static void *thread$(void *arg) {
    struct timespec time = {1000, 0};
    nanosleep(&time, NULL);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_clock_nanosleep | own | clock_nanosleep | cancellation
static void *thread$(void *arg) {
    struct timespec time = {1000, 0};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_sleep | own | sleep, usleep | cancellation
static void *thread$(void *arg) {
    sleep(1000);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_pause | own | pause | cancellation
static void *thread$(void *arg) {
    pause();
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_sigwait | own | sigwait | cancellation
static void *thread$(void *arg) {
    sigset_t set = only(SIGNAL$);
    int number;
    sigwait(&set, &number);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_sigwaitinfo | own | sigwaitinfo, sigtimedwait | cancellation
static void *thread$(void *arg) {
    sigset_t set = only(SIGNAL$);
    sigwaitinfo(&set, NULL);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_sigsuspend | own | sigsuspend | cancellation
static void *thread$(void *arg) {
    sigset_t set;
    sigfillset(&set);
    sigsuspend(&set);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_poll | own | poll | cancellation
static void *thread$(void *arg) {
    poll(NULL, 0, -1);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_ppoll | own | ppoll | cancellation
static void *thread$(void *arg) {
    ppoll(NULL, 0, NULL, NULL);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_select | own | select | cancellation
static void *thread$(void *arg) {
    select(0, NULL, NULL, NULL, NULL);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_pselect | own | pselect | cancellation
static void *thread$(void *arg) {
    pselect(0, NULL, NULL, NULL, NULL, NULL);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_epoll_wait | own | epoll_wait | cancellation
static void *thread$(void *arg) {
    struct epoll_event event;
    epoll_wait(epoll_create1(0), &event, 1, -1);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_mq_receive | own | mq_receive | cancellation
static void *thread$(void *arg) {
    char message[8];
    mq_receive(queue(0), message, 8, NULL);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_mq_send | own | mq_send into a full queue | cancellation
static void *thread$(void *arg) {
    mqd_t mine = queue(0);
    must(mq_send(mine, "x", 1, 0) == 0);
    mq_send(mine, "x", 1, 0);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_msgrcv | own | msgrcv | cancellation
static int queue$;
static void remove$(void *arg) {
    (void)arg;
    msgctl(queue$, IPC_RMID, NULL);
}
static void *thread$(void *arg) {
    struct {
        long kind;
        char text[4];
    } message;
    pthread_cleanup_push(remove$, NULL);
    queue$ = msgget(IPC_PRIVATE, 0600);
    msgrcv(queue$, &message, 4, 0, 0);
    pthread_cleanup_pop(1);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_eventfd | own | read of an eventfd | cancellation
static void *thread$(void *arg) {
    eventfd_t value;
    eventfd_read(eventfd(0, 0), &value);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_timerfd | own | read of a timerfd | cancellation
static void *thread$(void *arg) {
    unsigned long count;
    must(read(timerfd_create(CLOCK_MONOTONIC, 0), &count, sizeof count) > 0);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_signalfd | own | read of a signalfd | cancellation
static void *thread$(void *arg) {
    sigset_t set = only(SIGNAL$);
    struct signalfd_siginfo info;
    must(read(signalfd(-1, &set, 0), &info, sizeof info) > 0);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_testcancel | own, slow | pthread_testcancel in a loop | cancellation
static void *thread$(void *arg) {
    for (;;)
        pthread_testcancel();
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_asynchronous | own | a loop, asynchronously | cancellation
static void *thread$(void *arg) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    static atomic_int count;
    for (;;)
        atomic_fetch_add(&count, 1);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_thrd_sleep | own | thrd_sleep | cancellation
static void *thread$(void *arg) {
    struct timespec time = {1000, 0};
    thrd_sleep(&time, NULL);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_open | own, slow | open of a FIFO | cancellation
static char folder$[40], file$[40];
static void *thread$(void *arg) {
    char folder[] = "/tmp/pieceXXXXXX", file[40];
    must(mkdtemp(folder) != NULL);
    snprintf(file, sizeof file, "%s/fifo", folder);
    strcpy(folder$, folder);
    strcpy(file$, file);
    must(mkfifo(file, 0600) == 0);
    open(file, O_RDONLY);
    return arg;
}
static long run$(void) {
    int result = is_cancelled(thread$);
    unlink(file$);
    rmdir(folder$);
    return good$(result);
}

//: cancel_lock_file | own | fcntl, F_OFD_SETLKW | cancellation
static void *thread$(void *arg) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char path[40];
    int file = nameless();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    must(fcntl(file, F_OFD_SETLK, &lock) == 0);
    fcntl(open(path, O_RDWR), F_OFD_SETLKW, &lock);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_disabled | own | sem_wait, after it was disabled | cancellation
static void *thread$(void *arg) {
    sem_t sem;
    int state;
    sem_init(&sem, 0, 0);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    sched_yield();
    sem_post(&sem);
    down(&sem);
    pthread_setcancelstate(state, NULL);
    sem_wait(&sem);
    return arg;
}
static long run$(void) { return good$(is_cancelled(thread$)); }

//: cancel_cond | own | pthread_cond_wait, pthread_cond_timedwait | cancellation
static pthread_mutex_t lock$ = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never$ = PTHREAD_COND_INITIALIZER;
static void unlock$(void *lock) {
    write$();
    must(pthread_mutex_unlock(lock) == 0);
}
static void *thread$(void *arg) {
    pthread_mutex_lock(&lock$);
    pthread_cleanup_push(unlock$, &lock$);
    for (;;)
        pthread_cond_wait(&never$, &lock$);
    pthread_cleanup_pop(1);
    return arg;
}
static long run$(void) {
    must(is_cancelled(thread$));
    must(pthread_mutex_lock(&lock$) == 0);
    long value = read$();
    must(pthread_mutex_unlock(&lock$) == 0);
    return value;
}

//: cancel_join | own | pthread_join | cancellation
static sem_t sem$;
static pthread_t idler$;
static void *idle$(void *arg) {
    down(&sem$);
    write$();
    return arg;
}
static void *thread$(void *arg) {
    pthread_join(idler$, NULL);
    return arg;
}
static long run$(void) {
    must(sem_init(&sem$, 0, 0) == 0);
    must(pthread_create(&idler$, NULL, idle$, NULL) == 0);
    int result = is_cancelled(thread$);
    must(sem_post(&sem$) == 0);
    must(pthread_join(idler$, NULL) == 0 && result);
    return read$();
}

//: cancel_waitpid | own | waitpid | cancellation
static pid_t child$;
static void *thread$(void *arg) {
    waitpid(child$, NULL, 0);
    return arg;
}
static long run$(void) {
    child$ = fork();
    if (child$ == 0)
        for (;;)
            pause();
    int result = is_cancelled(thread$);
    must(kill(child$, SIGKILL) == 0 && exit_code(child$) == -1);
    return good$(result);
}
