//: join_self | own | pthread_join of oneself | EDEADLK
static long run$(void) { return good$(pthread_join(pthread_self(), NULL) == EDEADLK); }

//: join_detached | own | pthread_join of a detached thread | EINVAL
static sem_t sem$, gone$;
static void *thread$(void *arg) {
    down(&sem$);
    must(sem_post(&gone$) == 0);
    return arg;
}
static long run$(void) {
    pthread_t thread;
    must(sem_init(&sem$, 0, 0) == 0 && sem_init(&gone$, 0, 0) == 0);
    must(pthread_create(&thread, NULL, thread$, NULL) == 0);
    must(pthread_detach(thread) == 0);
    int result = pthread_join(thread, NULL);
    must(sem_post(&sem$) == 0);
    down(&gone$);
    return good$(result == EINVAL);
}

//: join_busy | own | pthread_tryjoin_np of a thread that waits | EBUSY
static sem_t sem$;
static void *thread$(void *arg) {
    down(&sem$);
    write$();
    return arg;
}
static long run$(void) {
    pthread_t thread;
    must(sem_init(&sem$, 0, 0) == 0);
    must(pthread_create(&thread, NULL, thread$, NULL) == 0);
    must(pthread_tryjoin_np(thread, NULL) == EBUSY);
    must(sem_post(&sem$) == 0);
    must(pthread_join(thread, NULL) == 0);
    return read$();
}

//: join_times_out | own | pthread_timedjoin_np, pthread_clockjoin_np | time
static sem_t sem$;
static void *thread$(void *arg) {
    down(&sem$);
    write$();
    return arg;
}
static long run$(void) {
    pthread_t thread;
    must(sem_init(&sem$, 0, 0) == 0);
    must(pthread_create(&thread, NULL, thread$, NULL) == 0);
    struct timespec until = soon(CLOCK_REALTIME);
    must(pthread_timedjoin_np(thread, NULL, &until) == ETIMEDOUT);
    until = soon(CLOCK_MONOTONIC);
    must(pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
    must(sem_post(&sem$) == 0);
    must(pthread_join(thread, NULL) == 0);
    return read$();
}

//: relock_errorcheck | own | pthread_mutex_lock of one's own, error-checking | EDEADLK
static pthread_mutex_t lock$ = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static long run$(void) {
    must(pthread_mutex_unlock(&lock$) == EPERM);
    must(pthread_mutex_lock(&lock$) == 0);
    struct timespec until = soon(CLOCK_REALTIME);
    must(pthread_mutex_timedlock(&lock$, &until) == EDEADLK);
    must(pthread_mutex_trylock(&lock$) == EBUSY);
    int result = pthread_mutex_lock(&lock$);
    must(pthread_mutex_unlock(&lock$) == 0);
    return good$(result == EDEADLK);
}

//: relock_rwlock | own | pthread_rwlock_wrlock, rdlock of one's own | EDEADLK
static pthread_rwlock_t lock$ = PTHREAD_RWLOCK_INITIALIZER;
static long run$(void) {
    must(pthread_rwlock_wrlock(&lock$) == 0);
    int first = pthread_rwlock_wrlock(&lock$);
    int second = pthread_rwlock_rdlock(&lock$);
    must(pthread_rwlock_trywrlock(&lock$) == EBUSY);
    must(pthread_rwlock_tryrdlock(&lock$) == EBUSY);
    must(pthread_rwlock_unlock(&lock$) == 0);
    return good$(first == EDEADLK && second == EDEADLK);
}

//: busy | own | trylock of a mutex, spin lock, mtx_t; sem_trywait | EBUSY, EAGAIN
static pthread_mutex_t lock$ = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin$;
static mtx_t mtx$;
static sem_t sem$;
static void *thread$(void *arg) {
    must(pthread_mutex_trylock(&lock$) == EBUSY);
    must(pthread_spin_trylock(&spin$) == EBUSY);
    must(mtx_trylock(&mtx$) == thrd_busy);
    must(sem_trywait(&sem$) == -1 && errno == EAGAIN);
    write$();
    return arg;
}
static long run$(void) {
    pthread_t thread;
    must(pthread_spin_init(&spin$, 0) == 0 && mtx_init(&mtx$, mtx_plain) == thrd_success);
    must(sem_init(&sem$, 0, 0) == 0);
    must(pthread_mutex_lock(&lock$) == 0 && pthread_spin_lock(&spin$) == 0);
    must(mtx_lock(&mtx$) == thrd_success);
    must(pthread_create(&thread, NULL, thread$, NULL) == 0);
    must(pthread_join(thread, NULL) == 0);
    must(mtx_unlock(&mtx$) == thrd_success);
    must(pthread_spin_unlock(&spin$) == 0 && pthread_mutex_unlock(&lock$) == 0);
    return read$();
}

//: robust_dead | own | pthread_mutex_lock, robust, of an ended thread | EOWNERDEAD
static pthread_mutex_t lock$;
static sem_t has$;
static void *thread$(void *arg) {
    must(pthread_mutex_lock(&lock$) == 0);
    must(sem_post(&has$) == 0);
    write$();
    return arg;
}
static long run$(void) {
    pthread_t thread;
    pthread_mutexattr_t attr;
    must(sem_init(&has$, 0, 0) == 0);
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    must(pthread_mutex_init(&lock$, &attr) == 0);
    must(pthread_create(&thread, NULL, thread$, NULL) == 0);
    down(&has$);
    must(pthread_mutex_lock(&lock$) == EOWNERDEAD);
    long value = read$();
    must(pthread_mutex_consistent(&lock$) == 0);
    must(pthread_mutex_unlock(&lock$) == 0);
    must(pthread_mutex_lock(&lock$) == 0 && pthread_mutex_unlock(&lock$) == 0);
    must(pthread_join(thread, NULL) == 0);
    return value;
}

//: robust_lost | own | pthread_mutex_lock, robust, given up | EOWNERDEAD, ENOTRECOVERABLE
static pthread_mutex_t lock$;
static void *thread$(void *arg) {
    must(pthread_mutex_lock(&lock$) == 0);
    write$();
    return arg;
}
static long run$(void) {
    pthread_t thread;
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    must(pthread_mutex_init(&lock$, &attr) == 0);
    must(pthread_create(&thread, NULL, thread$, NULL) == 0);
    must(pthread_join(thread, NULL) == 0);
    struct timespec until = soon(CLOCK_REALTIME);
    must(pthread_mutex_timedlock(&lock$, &until) == EOWNERDEAD);
    must(pthread_mutex_unlock(&lock$) == 0);
    must(pthread_mutex_lock(&lock$) == ENOTRECOVERABLE);
    must(pthread_mutex_trylock(&lock$) == ENOTRECOVERABLE);
    return read$();
}

//: locks_time_out | own | timed and clock calls of mutexes and rwlocks | time
static pthread_mutex_t lock$ = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t both$ = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t mtx$;
static void *thread$(void *arg) {
    struct timespec until = soon(CLOCK_REALTIME);
    must(pthread_mutex_timedlock(&lock$, &until) == ETIMEDOUT);
    must(pthread_rwlock_timedrdlock(&both$, &until) == ETIMEDOUT);
    must(pthread_rwlock_timedwrlock(&both$, &until) == ETIMEDOUT);
    must(mtx_timedlock(&mtx$, &until) == thrd_timedout);
    until = soon(CLOCK_MONOTONIC);
    must(pthread_mutex_clocklock(&lock$, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
    must(pthread_rwlock_clockrdlock(&both$, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
    must(pthread_rwlock_clockwrlock(&both$, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
    write$();
    return arg;
}
static long run$(void) {
    pthread_t thread;
    must(mtx_init(&mtx$, mtx_timed) == thrd_success && mtx_lock(&mtx$) == thrd_success);
    must(pthread_mutex_lock(&lock$) == 0 && pthread_rwlock_wrlock(&both$) == 0);
    must(pthread_create(&thread, NULL, thread$, NULL) == 0);
    must(pthread_join(thread, NULL) == 0);
    must(pthread_rwlock_unlock(&both$) == 0 && pthread_mutex_unlock(&lock$) == 0);
    must(mtx_unlock(&mtx$) == thrd_success);
    return read$();
}

//: waits_time_out | own | timed and clock calls of semaphores and conditions, futexes | time
static long run$(void) {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    atomic_int word = 0;
    sem_t sem;
    mtx_t mtx;
    cnd_t cnd;
    struct timespec until = soon(CLOCK_REALTIME), time = {0, 1000000};
    must(sem_init(&sem, 0, 0) == 0);
    must(sem_timedwait(&sem, &until) == -1 && errno == ETIMEDOUT);
    must(pthread_mutex_lock(&lock) == 0);
    must(pthread_cond_timedwait(&cond, &lock, &until) == ETIMEDOUT);
    must(mtx_init(&mtx, mtx_plain) == thrd_success && cnd_init(&cnd) == thrd_success);
    must(mtx_lock(&mtx) == thrd_success);
    must(cnd_timedwait(&cnd, &mtx, &until) == thrd_timedout);
    until = soon(CLOCK_MONOTONIC);
    must(sem_clockwait(&sem, CLOCK_MONOTONIC, &until) == -1 && errno == ETIMEDOUT);
    must(pthread_cond_clockwait(&cond, &lock, CLOCK_MONOTONIC, &until) == ETIMEDOUT);
    must(pthread_mutex_unlock(&lock) == 0 && mtx_unlock(&mtx) == thrd_success);
    must(futex(&word, FUTEX_WAIT_PRIVATE, 1, NULL) == -1 && errno == EAGAIN);
    return good$(futex(&word, FUTEX_WAIT_PRIVATE, 0, &time) == -1 && errno == ETIMEDOUT);
}

//: descriptors_time_out | own | poll, ppoll, select, epoll_wait, SO_RCVTIMEO | time
static long run$(void) {
    int ends[2], poller = epoll_create1(0);
    struct timespec time = {0, 1000000};
    struct timeval limit = {0, 1000};
    struct epoll_event event = {.events = EPOLLIN};
    char byte;
    fd_set set;
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    must(epoll_ctl(poller, EPOLL_CTL_ADD, ends[0], &event) == 0);
    must(poll(&one, 1, 1) == 0 && ppoll(&one, 1, &time, NULL) == 0);
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    must(select(ends[0] + 1, &set, NULL, NULL, &limit) == 0);
    FD_SET(ends[0], &set);
    must(pselect(ends[0] + 1, &set, NULL, NULL, &time, NULL) == 0);
    must(epoll_wait(poller, &event, 1, 1) == 0);
    limit.tv_usec = 1000;
    must(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    return good$(recv(ends[0], &byte, 1, 0) == -1 && errno == EAGAIN);
}

//: queues_time_out | own | mq_timedreceive, mq_timedsend, semtimedop, sigtimedwait | time
static long run$(void) {
    mqd_t mine = queue(0);
    char message[8];
    int sem = semget(IPC_PRIVATE, 1, 0600);
    struct sembuf down = {0, -1, 0};
    sigset_t set = only(SIGNAL$);
    struct timespec until = soon(CLOCK_REALTIME), time = {0, 1000000};
    must(mq_timedreceive(mine, message, 8, NULL, &until) == -1 && errno == ETIMEDOUT);
    must(mq_send(mine, "x", 1, 0) == 0);
    must(mq_timedsend(mine, "x", 1, 0, &until) == -1 && errno == ETIMEDOUT);
    must(semtimedop(sem, &down, 1, &time) == -1 && errno == EAGAIN);
    must(semctl(sem, 0, IPC_RMID) == 0 && mq_close(mine) == 0);
    return good$(sigtimedwait(&set, NULL, &time) == -1 && errno == EAGAIN);
}

//: sleeps | own | nanosleep, clock_nanosleep, usleep, thrd_sleep, poll of nothing | time
static long run$(void) {
    struct timespec time = {0, 1000000}, until = soon(CLOCK_MONOTONIC);
    must(nanosleep(&time, NULL) == 0 && usleep(100) == 0);
    must(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0);
    must(clock_nanosleep(CLOCK_REALTIME, 0, &time, NULL) == 0);
    must(thrd_sleep(&time, NULL) == 0);
    return good$(poll(NULL, 0, 1) == 0);
}

//: timerfd_ticks | own | read of a timerfd | time
static long run$(void) {
    struct itimerspec every = {{0, 1000000}, {0, 1000000}};
    unsigned long count, sum = 0;
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    must(timerfd_settime(timer, 0, &every, NULL) == 0);
    while (sum < 3) {
        must(read(timer, &count, sizeof count) == sizeof count);
        sum += count;
    }
    close(timer);
    return good$(1);
}

//: removed | own | msgrcv, semop of what is removed | EIDRM
static int queue$, sem$;
static void *thread$(void *arg) {
    must(msgctl(queue$, IPC_RMID, NULL) == 0);
    must(semctl(sem$, 0, IPC_RMID) == 0);
    return arg;
}
static long run$(void) {
    pthread_t thread;
    struct {
        long kind;
        char text[4];
    } message;
    struct sembuf down = {0, -1, 0};
    must((queue$ = msgget(IPC_PRIVATE, 0600)) >= 0 && (sem$ = semget(IPC_PRIVATE, 1, 0600)) >= 0);
    must(pthread_create(&thread, NULL, thread$, NULL) == 0);
    must(msgrcv(queue$, &message, 4, 0, 0) == -1 && (errno == EIDRM || errno == EINVAL));
    must(semop(sem$, &down, 1) == -1 && (errno == EIDRM || errno == EINVAL));
    must(pthread_join(thread, NULL) == 0);
    return good$(1);
}

//: broken_pipe | own | write into a full pipe | EPIPE, by close of the other end
static int ends$[2];
static void *thread$(void *arg) {
    must(close(ends$[0]) == 0);
    return arg;
}
static long run$(void) {
    pthread_t thread;
    static char bytes[65536];
    must(pipe(ends$) == 0 && write(ends$[1], bytes, sizeof bytes) == sizeof bytes);
    must(pthread_create(&thread, NULL, thread$, NULL) == 0);
    int result = write(ends$[1], "x", 1) == -1 && errno == EPIPE;
    must(pthread_join(thread, NULL) == 0);
    return good$(result);
}

//: full_pipe | handover | write into a full pipe | whoever reads
static int ends$[2];
static char bytes$[65536];
static void setup$(void) {
    must(pipe(ends$) == 0 && write(ends$[1], bytes$, sizeof bytes$) == sizeof bytes$);
}
static void give$(void) {
    static char into[65536];
    must(read(ends$[0], into, sizeof into) == sizeof into);
}
static void take$(void) { must(write(ends$[1], "x", 1) == 1); }

//: full_pipe_poll | handover | poll until a full pipe can be written to | whoever reads
static int ends$[2];
static char bytes$[65536];
static void setup$(void) {
    must(pipe2(ends$, O_NONBLOCK) == 0);
    must(write(ends$[1], bytes$, sizeof bytes$) == sizeof bytes$);
}
static void give$(void) {
    static char into[65536];
    must(read(ends$[0], into, sizeof into) == sizeof into);
}
static void take$(void) {
    struct pollfd one = {.fd = ends$[1], .events = POLLOUT};
    must(poll(&one, 1, -1) == 1 && one.revents == POLLOUT);
}

//: full_pipe_parts | handover | write of more than a pipe holds | whoever reads
static int ends$[2];
static char bytes$[40000];
static void setup$(void) {
    must(pipe(ends$) == 0 && write(ends$[1], bytes$, sizeof bytes$) == sizeof bytes$);
}
static void give$(void) {
    static char into[40000];
    must(read(ends$[0], into, sizeof into) == sizeof into);
}
static void take$(void) { must(write(ends$[1], bytes$, sizeof bytes$) == sizeof bytes$); }

//: full_pipe_stream | handover | fwrite to a full pipe | whoever reads
static int ends$[2];
static FILE *stream$;
static char bytes$[65536];
static void setup$(void) {
    must(pipe(ends$) == 0 && (stream$ = fdopen(ends$[1], "w")) != NULL);
    must(fwrite(bytes$, 1, sizeof bytes$, stream$) == sizeof bytes$ && fflush(stream$) == 0);
}
static void give$(void) {
    static char into[65536];
    must(read(ends$[0], into, sizeof into) == sizeof into);
}
static void take$(void) { must(fputs("x", stream$) >= 0 && fflush(stream$) == 0); }

//: full_socket | handover | send into a full socket | whoever receives
static int ends$[2];
static void setup$(void) {
    static char bytes[1024];
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends$) == 0);
    while (send(ends$[0], bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        ;
    must(errno == EAGAIN);
}
static void give$(void) {
    static char into[1024];
    while (recv(ends$[1], into, sizeof into, MSG_DONTWAIT) > 0)
        ;
}
static void take$(void) { must(send(ends$[0], "x", 1, 0) == 1); }

//: full_datagrams | handover | send into a full socket of datagrams | whoever receives
static int ends$[2];
static void setup$(void) {
    must(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends$) == 0);
    while (send(ends$[0], "x", 1, MSG_DONTWAIT) > 0)
        ;
    must(errno == EAGAIN);
}
static void give$(void) {
    static char into[8];
    while (recv(ends$[1], into, sizeof into, MSG_DONTWAIT) > 0)
        ;
}
static void take$(void) { must(send(ends$[0], "y", 1, 0) == 1); }
