//: mutex | exclusion | pthread_mutex_lock | the owner
static pthread_mutex_t lock$ = PTHREAD_MUTEX_INITIALIZER;
static void enter$(void) { must(pthread_mutex_lock(&lock$) == 0); }
static void leave$(void) { must(pthread_mutex_unlock(&lock$) == 0); }

//: mutex_trylock | exclusion | pthread_mutex_trylock in a loop | EBUSY
static pthread_mutex_t lock$ = PTHREAD_MUTEX_INITIALIZER;
static void enter$(void) {
    while (pthread_mutex_trylock(&lock$) != 0)
        sched_yield();
}
static void leave$(void) { pthread_mutex_unlock(&lock$); }

//: mutex_timedlock | exclusion | pthread_mutex_timedlock in a loop | the owner, or time
static pthread_mutex_t lock$ = PTHREAD_MUTEX_INITIALIZER;
static void enter$(void) {
    for (;;) {
        struct timespec until = soon(CLOCK_REALTIME);
        int result = pthread_mutex_timedlock(&lock$, &until);
        if (result == 0)
            return;
        must(result == ETIMEDOUT);
    }
}
static void leave$(void) { pthread_mutex_unlock(&lock$); }

//: mutex_clocklock | exclusion | pthread_mutex_clocklock in a loop | the owner, or time
static pthread_mutex_t lock$ = PTHREAD_MUTEX_INITIALIZER;
static void enter$(void) {
    for (;;) {
        struct timespec until = soon(CLOCK_MONOTONIC);
        int result = pthread_mutex_clocklock(&lock$, CLOCK_MONOTONIC, &until);
        if (result == 0)
            return;
        must(result == ETIMEDOUT);
    }
}
static void leave$(void) { pthread_mutex_unlock(&lock$); }

//: mutex_recursive | exclusion | pthread_mutex_lock, recursive | the owner
static pthread_mutex_t lock$ = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static void enter$(void) {
    must(pthread_mutex_lock(&lock$) == 0);
    must(pthread_mutex_lock(&lock$) == 0);
    must(pthread_mutex_unlock(&lock$) == 0);
}
static void leave$(void) { must(pthread_mutex_unlock(&lock$) == 0); }

//: mutex_errorcheck | exclusion | pthread_mutex_lock, error-checking | the owner, or EDEADLK
static pthread_mutex_t lock$ = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static void enter$(void) {
    must(pthread_mutex_lock(&lock$) == 0);
    must(pthread_mutex_lock(&lock$) == EDEADLK);
}
static void leave$(void) {
    must(pthread_mutex_unlock(&lock$) == 0);
}

//: mutex_adaptive | exclusion | pthread_mutex_lock, adaptive | the owner
static pthread_mutex_t lock$ = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static void enter$(void) { must(pthread_mutex_lock(&lock$) == 0); }
static void leave$(void) { must(pthread_mutex_unlock(&lock$) == 0); }

//: mutex_robust | exclusion | pthread_mutex_lock, robust | the owner
static pthread_mutex_t lock$;
static void setup$(void) {
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    must(pthread_mutex_init(&lock$, &attr) == 0);
}
static void enter$(void) { must(pthread_mutex_lock(&lock$) == 0); }
static void leave$(void) { must(pthread_mutex_unlock(&lock$) == 0); }

//: mutex_inherit | exclusion | pthread_mutex_lock, priority inheritance | the owner
static pthread_mutex_t lock$;
static void setup$(void) {
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
    must(pthread_mutex_init(&lock$, &attr) == 0);
}
static void enter$(void) { must(pthread_mutex_lock(&lock$) == 0); }
static void leave$(void) { must(pthread_mutex_unlock(&lock$) == 0); }

//: mutex_shared | exclusion | pthread_mutex_lock, process-shared | the owner
static pthread_mutex_t *lock$;
static void setup$(void) {
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    lock$ = shared_memory(sizeof *lock$);
    must(pthread_mutex_init(lock$, &attr) == 0);
}
static void enter$(void) { must(pthread_mutex_lock(lock$) == 0); }
static void leave$(void) { must(pthread_mutex_unlock(lock$) == 0); }

//: rwlock | exclusion | pthread_rwlock_wrlock | the owner
static pthread_rwlock_t lock$ = PTHREAD_RWLOCK_INITIALIZER;
static void enter$(void) { must(pthread_rwlock_wrlock(&lock$) == 0); }
static void leave$(void) { must(pthread_rwlock_unlock(&lock$) == 0); }

//: rwlock_readers | exclusion | pthread_rwlock_rdlock, then wrlock | the owners
static pthread_rwlock_t lock$ = PTHREAD_RWLOCK_INITIALIZER;
static void enter$(void) {
    must(pthread_rwlock_rdlock(&lock$) == 0);
    must(read$() >= 0);
    must(pthread_rwlock_unlock(&lock$) == 0);
    must(pthread_rwlock_wrlock(&lock$) == 0);
}
static void leave$(void) { must(pthread_rwlock_unlock(&lock$) == 0); }

//: rwlock_prefer_writer | exclusion | pthread_rwlock_wrlock, writers first | the owner
static pthread_rwlock_t lock$ = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static void enter$(void) { must(pthread_rwlock_wrlock(&lock$) == 0); }
static void leave$(void) { must(pthread_rwlock_unlock(&lock$) == 0); }

//: rwlock_try | exclusion | pthread_rwlock_trywrlock in a loop | EBUSY
static pthread_rwlock_t lock$ = PTHREAD_RWLOCK_INITIALIZER;
static void enter$(void) {
    while (pthread_rwlock_trywrlock(&lock$) != 0)
        sched_yield();
}
static void leave$(void) { must(pthread_rwlock_unlock(&lock$) == 0); }

//: rwlock_timed | exclusion | pthread_rwlock_timedwrlock, clockrdlock in a loop | the owner, or time
static pthread_rwlock_t lock$ = PTHREAD_RWLOCK_INITIALIZER;
static void enter$(void) {
    struct timespec until;
    do
        until = soon(CLOCK_MONOTONIC);
    while (pthread_rwlock_clockrdlock(&lock$, CLOCK_MONOTONIC, &until) != 0);
    must(read$() >= 0);
    must(pthread_rwlock_unlock(&lock$) == 0);
    do
        until = soon(CLOCK_REALTIME);
    while (pthread_rwlock_timedwrlock(&lock$, &until) != 0);
}
static void leave$(void) { must(pthread_rwlock_unlock(&lock$) == 0); }

//: spin | exclusion | pthread_spin_lock | the owner
static pthread_spinlock_t lock$;
static void setup$(void) { must(pthread_spin_init(&lock$, 0) == 0); }
static void enter$(void) { must(pthread_spin_lock(&lock$) == 0); }
static void leave$(void) { must(pthread_spin_unlock(&lock$) == 0); }

//: spin_try | exclusion | pthread_spin_trylock in a loop | EBUSY
static pthread_spinlock_t lock$;
static void setup$(void) { must(pthread_spin_init(&lock$, 0) == 0); }
static void enter$(void) {
    while (pthread_spin_trylock(&lock$) != 0)
        sched_yield();
}
static void leave$(void) { must(pthread_spin_unlock(&lock$) == 0); }

//: sem_binary | exclusion | sem_wait | any thread
static sem_t lock$;
static void setup$(void) { must(sem_init(&lock$, 0, 1) == 0); }
static void enter$(void) { down(&lock$); }
static void leave$(void) { must(sem_post(&lock$) == 0); }

//: sem_trywait | exclusion | sem_trywait in a loop | EAGAIN
static sem_t lock$;
static void setup$(void) { must(sem_init(&lock$, 0, 1) == 0); }
static void enter$(void) {
    while (sem_trywait(&lock$) != 0)
        must(errno == EAGAIN || errno == EINTR);
}
static void leave$(void) { must(sem_post(&lock$) == 0); }

//: sem_named | exclusion | sem_wait, named | any thread, any process
static sem_t *lock$;
static void setup$(void) {
    char name[40];
    snprintf(name, sizeof name, "/piece$-%d", (int)getpid());
    lock$ = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
    must(lock$ != SEM_FAILED && sem_unlink(name) == 0);
}
static void enter$(void) { down(lock$); }
static void leave$(void) { must(sem_post(lock$) == 0); }
static void finish$(void) { must(sem_close(lock$) == 0); }

//: monitor | exclusion | pthread_cond_wait | any thread
static pthread_mutex_t lock$ = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t free$ = PTHREAD_COND_INITIALIZER;
static int busy$;
static void enter$(void) {
    pthread_mutex_lock(&lock$);
    while (busy$)
        pthread_cond_wait(&free$, &lock$);
    busy$ = 1;
    pthread_mutex_unlock(&lock$);
}
static void leave$(void) {
    pthread_mutex_lock(&lock$);
    busy$ = 0;
    pthread_cond_signal(&free$);
    pthread_mutex_unlock(&lock$);
}

//: atomic_flag | exclusion | atomic_flag_test_and_set in a loop | the owner
static atomic_flag lock$ = ATOMIC_FLAG_INIT;
static void enter$(void) {
    while (atomic_flag_test_and_set_explicit(&lock$, memory_order_acquire))
        ;
}
static void leave$(void) { atomic_flag_clear_explicit(&lock$, memory_order_release); }

//: atomic_cas | exclusion, slow | atomic_compare_exchange_weak in a loop | the owner
static atomic_int lock$;
static void enter$(void) {
    int expected = 0;
    while (!atomic_compare_exchange_weak_explicit(&lock$, &expected, 1, memory_order_acquire,
                                                  memory_order_relaxed))
        expected = 0;
}
static void leave$(void) { atomic_store_explicit(&lock$, 0, memory_order_release); }

//: ticket | exclusion | atomic_load in a loop | the owner
static atomic_uint next$, served$;
static void enter$(void) {
    unsigned mine = atomic_fetch_add_explicit(&next$, 1, memory_order_relaxed);
    while (atomic_load_explicit(&served$, memory_order_acquire) != mine)
        sched_yield();
}
static void leave$(void) {
    unsigned mine = atomic_load_explicit(&served$, memory_order_relaxed);
    atomic_store_explicit(&served$, mine + 1, memory_order_release);
}

//: fence_lock | exclusion | atomic_exchange, relaxed, and fences | the owner
static atomic_int lock$;
static void enter$(void) {
    while (atomic_exchange_explicit(&lock$, 1, memory_order_relaxed))
        sched_yield();
    atomic_thread_fence(memory_order_acquire);
}
static void leave$(void) {
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&lock$, 0, memory_order_relaxed);
}

//: mcs | exclusion | a queue of atomic nodes | the owner
struct node$ {
    _Atomic(struct node$ *) next;
    atomic_int waits;
};
static _Atomic(struct node$ *) tail$;
static _Thread_local struct node$ node$;
static void enter$(void) {
    atomic_store_explicit(&node$.next, NULL, memory_order_relaxed);
    atomic_store_explicit(&node$.waits, 1, memory_order_relaxed);
    struct node$ *before = atomic_exchange_explicit(&tail$, &node$, memory_order_acq_rel);
    if (before) {
        atomic_store_explicit(&before->next, &node$, memory_order_release);
        while (atomic_load_explicit(&node$.waits, memory_order_acquire))
            sched_yield();
    }
}
static void leave$(void) {
    struct node$ *mine = &node$, *after;
    if (atomic_compare_exchange_strong_explicit(&tail$, &mine, NULL, memory_order_acq_rel,
                                                memory_order_acquire))
        return;
    while (!(after = atomic_load_explicit(&node$.next, memory_order_acquire)))
        sched_yield();
    atomic_store_explicit(&after->waits, 0, memory_order_release);
}

//: futex_lock | exclusion | futex | the owner
static atomic_int lock$;
static void enter$(void) {
    int was = 0;
    if (atomic_compare_exchange_strong(&lock$, &was, 1))
        return;
    while (atomic_exchange(&lock$, 2) != 0)
        futex(&lock$, FUTEX_WAIT_PRIVATE, 2, NULL);
}
static void leave$(void) {
    if (atomic_exchange(&lock$, 0) == 2)
        futex(&lock$, FUTEX_WAKE_PRIVATE, 1, NULL);
}

//: pipe_token | exclusion | read of a pipe | any thread
static int ends$[2];
static void setup$(void) { must(pipe(ends$) == 0 && write(ends$[1], "x", 1) == 1); }
static void enter$(void) {
    char token;
    must(read(ends$[0], &token, 1) == 1);
}
static void leave$(void) { must(write(ends$[1], "x", 1) == 1); }

//: eventfd_token | exclusion | read of an eventfd | any thread
static int token$;
static void setup$(void) { must((token$ = eventfd(1, EFD_SEMAPHORE)) >= 0); }
static void enter$(void) {
    eventfd_t value;
    must(eventfd_read(token$, &value) == 0);
}
static void leave$(void) { must(eventfd_write(token$, 1) == 0); }

//: mqueue_token | exclusion | mq_receive | any thread, any process
static mqd_t queue$;
static void setup$(void) {
    queue$ = queue(0);
    must(mq_send(queue$, "x", 1, 0) == 0);
}
static void enter$(void) {
    char token[8];
    must(mq_receive(queue$, token, sizeof token, NULL) == 1);
}
static void leave$(void) { must(mq_send(queue$, "x", 1, 0) == 0); }

//: sysv_sem | exclusion | semop | any thread, any process
static int sem$;
static void setup$(void) {
    must((sem$ = semget(IPC_PRIVATE, 1, 0600)) >= 0);
    must(semctl(sem$, 0, SETVAL, 1) == 0);
}
static void enter$(void) {
    struct sembuf down = {0, -1, 0};
    must(semop(sem$, &down, 1) == 0);
}
static void leave$(void) {
    struct sembuf up = {0, 1, 0};
    must(semop(sem$, &up, 1) == 0);
}
static void finish$(void) { must(semctl(sem$, 0, IPC_RMID) == 0); }

//: flock | exclusion | flock | the owner, any process
static int file$;
static _Thread_local int mine$;
static char path$[40];
static void setup$(void) {
    file$ = nameless();
    snprintf(path$, sizeof path$, "/proc/self/fd/%d", file$);
}
static void enter$(void) {
    must((mine$ = open(path$, O_RDWR)) >= 0);
    must(flock(mine$, LOCK_EX) == 0);
}
static void leave$(void) {
    must(flock(mine$, LOCK_UN) == 0);
    close(mine$);
}

//: flock_try | exclusion | flock, LOCK_NB, in a loop; given back by close | EWOULDBLOCK
static int file$;
static _Thread_local int mine$;
static char path$[40];
static void setup$(void) {
    file$ = nameless();
    snprintf(path$, sizeof path$, "/proc/self/fd/%d", file$);
}
static void enter$(void) {
    must((mine$ = open(path$, O_RDWR)) >= 0);
    while (flock(mine$, LOCK_EX | LOCK_NB) != 0)
        must(errno == EWOULDBLOCK);
}
static void leave$(void) { close(mine$); }

//: ofd_lock | exclusion | fcntl, F_OFD_SETLKW | the owner, any process
static int file$;
static _Thread_local int mine$;
static char path$[40];
static void setup$(void) {
    file$ = nameless();
    snprintf(path$, sizeof path$, "/proc/self/fd/%d", file$);
}
static void enter$(void) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    must((mine$ = open(path$, O_RDWR)) >= 0);
    must(fcntl(mine$, F_OFD_SETLKW, &lock) == 0);
}
static void leave$(void) {
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_len = 1};
    must(fcntl(mine$, F_OFD_SETLK, &lock) == 0);
    close(mine$);
}

//: c11_mtx | exclusion | mtx_lock | the owner
static mtx_t lock$;
static void setup$(void) { must(mtx_init(&lock$, mtx_plain) == thrd_success); }
static void enter$(void) { must(mtx_lock(&lock$) == thrd_success); }
static void leave$(void) { must(mtx_unlock(&lock$) == thrd_success); }
static void finish$(void) { mtx_destroy(&lock$); }

//: c11_mtx_recursive | exclusion | mtx_lock, recursive | the owner
static mtx_t lock$;
static void setup$(void) { must(mtx_init(&lock$, mtx_plain | mtx_recursive) == thrd_success); }
static void enter$(void) {
    must(mtx_lock(&lock$) == thrd_success);
    must(mtx_trylock(&lock$) == thrd_success);
}
static void leave$(void) {
    must(mtx_unlock(&lock$) == thrd_success);
    must(mtx_unlock(&lock$) == thrd_success);
}

//: c11_mtx_timed | exclusion | mtx_timedlock, mtx_trylock in a loop | the owner, or time
static mtx_t lock$;
static void setup$(void) { must(mtx_init(&lock$, mtx_timed) == thrd_success); }
static void enter$(void) {
    for (;;) {
        struct timespec until = soon(CLOCK_REALTIME);
        if (mtx_timedlock(&lock$, &until) == thrd_success)
            return;
        if (mtx_trylock(&lock$) == thrd_success)
            return;
    }
}
static void leave$(void) { must(mtx_unlock(&lock$) == thrd_success); }

//: stdio_lock | exclusion | flockfile | the owner
static FILE *stream$;
static void setup$(void) { must((stream$ = tmpfile()) != NULL); }
static void enter$(void) { flockfile(stream$); }
static void leave$(void) { funlockfile(stream$); }
