//: sigwait | handover | sigwait, kill | any process
static void give$(void) { must(kill(getpid(), SIGNAL$) == 0); }
static void take$(void) {
    sigset_t set = only(SIGNAL$);
    int number;
    must(sigwait(&set, &number) == 0 && number == SIGNAL$);
}

//: sigwait_thread | handover, meets | sigwait, pthread_kill | any thread
static pthread_t taker$;
static sem_t known$;
static void setup$(void) { must(sem_init(&known$, 0, 0) == 0); }
static void give$(void) {
    down(&known$);
    must(pthread_kill(taker$, SIGNAL$) == 0);
}
static void take$(void) {
    sigset_t set = only(SIGNAL$);
    int number;
    taker$ = pthread_self();
    must(sem_post(&known$) == 0);
    must(sigwait(&set, &number) == 0 && number == SIGNAL$);
}

//: sigwaitinfo | handover | sigwaitinfo, sigqueue | any process
static void give$(void) {
    union sigval value = {.sival_int = 77};
    must(sigqueue(getpid(), SIGNAL$, value) == 0);
}
static void take$(void) {
    sigset_t set = only(SIGNAL$);
    siginfo_t info;
    must(sigwaitinfo(&set, &info) == SIGNAL$ && info.si_value.sival_int == 77);
}

//: sigtimedwait | handover | sigtimedwait in a loop | any process, or time
static void give$(void) { must(kill(getpid(), SIGNAL$) == 0); }
static void take$(void) {
    sigset_t set = only(SIGNAL$);
    struct timespec time = {0, 1000000};
    while (sigtimedwait(&set, NULL, &time) != SIGNAL$)
        must(errno == EAGAIN || errno == EINTR);
}

//: sigqueue_thread | handover, meets | sigwaitinfo, pthread_sigqueue | any thread
static pthread_t taker$;
static sem_t known$;
static void setup$(void) { must(sem_init(&known$, 0, 0) == 0); }
static void give$(void) {
    union sigval value = {.sival_ptr = &known$};
    down(&known$);
    must(pthread_sigqueue(taker$, SIGNAL$, value) == 0);
}
static void take$(void) {
    sigset_t set = only(SIGNAL$);
    siginfo_t info;
    taker$ = pthread_self();
    must(sem_post(&known$) == 0);
    must(sigwaitinfo(&set, &info) == SIGNAL$ && info.si_value.sival_ptr == &known$);
}

//: signalfd | handover | read of a signalfd | any process
static int file$;
static void setup$(void) {
    sigset_t set = only(SIGNAL$);
    must((file$ = signalfd(-1, &set, 0)) >= 0);
}
static void give$(void) { must(kill(getpid(), SIGNAL$) == 0); }
static void take$(void) {
    struct signalfd_siginfo info;
    must(read(file$, &info, sizeof info) == sizeof info && (int)info.ssi_signo == SIGNAL$);
}

//: signalfd_poll | handover | poll of a signalfd | any process
static int file$;
static void setup$(void) {
    sigset_t set = only(SIGNAL$);
    must((file$ = signalfd(-1, &set, SFD_NONBLOCK)) >= 0);
}
static void give$(void) { must(kill(getpid(), SIGNAL$) == 0); }
static void take$(void) {
    struct signalfd_siginfo info;
    struct pollfd one = {.fd = file$, .events = POLLIN};
    must(poll(&one, 1, -1) == 1);
    must(read(file$, &info, sizeof info) == sizeof info);
}

//: sigsuspend | handover, meets | sigsuspend | any process
static pthread_t taker$;
static sem_t known$;
static _Thread_local volatile sig_atomic_t is$;
static void arrive$(int number) {
    (void)number;
    is$ = 1;
}
static void setup$(void) {
    must(sem_init(&known$, 0, 0) == 0);
    handle(SIGNAL$, arrive$);
}
static void give$(void) {
    down(&known$);
    must(pthread_kill(taker$, SIGNAL$) == 0);
}
static void take$(void) {
    sigset_t set;
    taker$ = pthread_self();
    must(sem_post(&known$) == 0);
    must(pthread_sigmask(SIG_SETMASK, NULL, &set) == 0);
    sigdelset(&set, SIGNAL$);
    while (!is$)
        sigsuspend(&set);
}

//: handler_flag | handover, meets | a loop until a handler says so | any thread
static pthread_t taker$;
static sem_t known$;
static atomic_int is$;
static void arrive$(int number) {
    (void)number;
    atomic_store(&is$, 1);
}
static void setup$(void) {
    must(sem_init(&known$, 0, 0) == 0);
    handle(SIGNAL$, arrive$);
}
static void give$(void) {
    down(&known$);
    must(pthread_kill(taker$, SIGNAL$) == 0);
}
static void take$(void) {
    mask(SIG_UNBLOCK, SIGNAL$);
    taker$ = pthread_self();
    must(sem_post(&known$) == 0);
    while (!atomic_load(&is$))
        sched_yield();
    mask(SIG_BLOCK, SIGNAL$);
}

//: handler_ppoll | handover, meets | ppoll with a mask | any process
static pthread_t taker$;
static sem_t known$;
static _Thread_local volatile sig_atomic_t is$;
static void arrive$(int number) {
    (void)number;
    is$ = 1;
}
static void setup$(void) {
    must(sem_init(&known$, 0, 0) == 0);
    handle(SIGNAL$, arrive$);
}
static void give$(void) {
    down(&known$);
    must(pthread_kill(taker$, SIGNAL$) == 0);
}
static void take$(void) {
    sigset_t set;
    taker$ = pthread_self();
    must(sem_post(&known$) == 0);
    must(pthread_sigmask(SIG_SETMASK, NULL, &set) == 0);
    sigdelset(&set, SIGNAL$);
    while (!is$)
        must(ppoll(NULL, 0, NULL, &set) == -1 && errno == EINTR);
}

//: handler_post | handover | sem_wait, posted by a handler | signal handlers
static sem_t sem$;
static void arrive$(int number) {
    (void)number;
    sem_post(&sem$);
}
static void setup$(void) {
    must(sem_init(&sem$, 0, 0) == 0);
    handle(SIGNAL$, arrive$);
}
static void give$(void) {
    mask(SIG_UNBLOCK, SIGNAL$);
    must(raise(SIGNAL$) == 0);
    mask(SIG_BLOCK, SIGNAL$);
}
static void take$(void) { down(&sem$); }

//: handler_pipe | handover | read of a pipe, written by a handler | signal handlers
static int ends$[2];
static void arrive$(int number) {
    (void)number;
    if (write(ends$[1], "x", 1) != 1)
        _exit(4);
}
static void setup$(void) {
    must(pipe(ends$) == 0);
    handle(SIGNAL$, arrive$);
}
static void give$(void) {
    mask(SIG_UNBLOCK, SIGNAL$);
    must(pthread_kill(pthread_self(), SIGNAL$) == 0);
    mask(SIG_BLOCK, SIGNAL$);
}
static void take$(void) {
    char byte;
    must(read(ends$[0], &byte, 1) == 1);
}

//: handler_altstack | handover | sem_wait, posted by a handler on its own stack | signal handlers
static sem_t sem$;
static char stack$[65536];
static void arrive$(int number) {
    char here;
    must(number == SIGNAL$ && &here >= stack$ && &here < stack$ + sizeof stack$);
    sem_post(&sem$);
}
static void setup$(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = arrive$;
    action.sa_flags = SA_ONSTACK;
    must(sem_init(&sem$, 0, 0) == 0);
    must(sigaction(SIGNAL$, &action, NULL) == 0);
}
static void give$(void) {
    stack_t on = {.ss_sp = stack$, .ss_size = sizeof stack$};
    stack_t off = {.ss_flags = SS_DISABLE};
    must(sigaltstack(&on, NULL) == 0);
    mask(SIG_UNBLOCK, SIGNAL$);
    must(raise(SIGNAL$) == 0);
    mask(SIG_BLOCK, SIGNAL$);
    must(sigaltstack(&off, NULL) == 0);
}
static void take$(void) { down(&sem$); }
