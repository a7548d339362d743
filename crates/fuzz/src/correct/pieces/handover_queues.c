//: mqueue | handover | mq_receive | any thread, any process
static mqd_t queue$;
static void setup$(void) { queue$ = queue(0); }
static void give$(void) { must(mq_send(queue$, "abc", 3, 1) == 0); }
static void take$(void) {
    char message[8];
    unsigned priority;
    must(mq_receive(queue$, message, sizeof message, &priority) == 3 && priority == 1);
}

//: mqueue_timed | handover | mq_timedreceive in a loop | any thread, any process, or time
static mqd_t queue$;
static void setup$(void) { queue$ = queue(0); }
static void give$(void) {
    struct timespec until = soon(CLOCK_REALTIME);
    must(mq_timedsend(queue$, "abc", 3, 0, &until) == 0);
}
static void take$(void) {
    char message[8];
    struct timespec until;
    do
        until = soon(CLOCK_REALTIME);
    while (mq_timedreceive(queue$, message, sizeof message, NULL, &until) != 3);
}

//: mqueue_full | handover | mq_send into a full queue | whoever receives
static mqd_t queue$;
static void setup$(void) {
    queue$ = queue(0);
    must(mq_send(queue$, "a", 1, 0) == 0);
}
static void give$(void) {
    char message[8];
    must(mq_receive(queue$, message, sizeof message, NULL) == 1 && message[0] == 'a');
}
static void take$(void) { must(mq_send(queue$, "b", 1, 0) == 0); }

//: mqueue_poll | handover | poll of a message queue | any thread, any process
static mqd_t queue$;
static void setup$(void) { queue$ = queue(O_NONBLOCK); }
static void give$(void) { must(mq_send(queue$, "abc", 3, 0) == 0); }
static void take$(void) {
    char message[8];
    struct pollfd one = {.fd = queue$, .events = POLLIN};
    must(poll(&one, 1, -1) == 1);
    must(mq_receive(queue$, message, sizeof message, NULL) == 3);
}

//: mqueue_notify | handover | sigwait for mq_notify | any thread, any process
static mqd_t queue$;
static void setup$(void) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGNAL$};
    queue$ = queue(0);
    must(mq_notify(queue$, &event) == 0);
}
static void give$(void) { must(mq_send(queue$, "abc", 3, 0) == 0); }
static void take$(void) {
    sigset_t set = only(SIGNAL$);
    char message[8];
    int number;
    must(sigwait(&set, &number) == 0);
    must(mq_receive(queue$, message, sizeof message, NULL) == 3);
}

//: sysv_message | handover | msgrcv | any thread, any process
static int queue$;
struct message$ {
    long kind;
    char text[4];
};
static void setup$(void) { must((queue$ = msgget(IPC_PRIVATE, 0600)) >= 0); }
static void give$(void) {
    struct message$ message = {3, "abc"};
    must(msgsnd(queue$, &message, 4, 0) == 0);
}
static void take$(void) {
    struct message$ message;
    must(msgrcv(queue$, &message, 4, 3, 0) == 4 && message.text[1] == 'b');
}
static void finish$(void) { must(msgctl(queue$, IPC_RMID, NULL) == 0); }

//: sysv_message_full | handover | msgsnd into a full queue | whoever receives
static int queue$;
struct message$ {
    long kind;
    char text[64];
};
static void setup$(void) {
    struct msqid_ds now;
    struct message$ message = {2, "abc"};
    must((queue$ = msgget(IPC_PRIVATE, 0600)) >= 0 && msgctl(queue$, IPC_STAT, &now) == 0);
    now.msg_qbytes = 100;
    must(msgctl(queue$, IPC_SET, &now) == 0 && msgsnd(queue$, &message, 64, 0) == 0);
}
static void give$(void) {
    struct message$ message;
    must(msgrcv(queue$, &message, 64, 2, 0) == 64 && message.text[1] == 'b');
}
static void take$(void) {
    struct message$ message = {1, "def"};
    must(msgsnd(queue$, &message, 64, 0) == 0);
}
static void finish$(void) { must(msgctl(queue$, IPC_RMID, NULL) == 0); }

//: sysv_message_full_third | handover | msgrcv of what a full queue took later | whoever receives first
static int queue$;
struct message$ {
    long kind;
    char text[64];
};
static pthread_t thread$;
static void *sender$(void *arg) {
    struct message$ message = {1, "def"};
    must(msgsnd(queue$, &message, 64, 0) == 0);
    return arg;
}
static void setup$(void) {
    struct msqid_ds now;
    struct message$ message = {2, "abc"};
    must((queue$ = msgget(IPC_PRIVATE, 0600)) >= 0 && msgctl(queue$, IPC_STAT, &now) == 0);
    now.msg_qbytes = 100;
    must(msgctl(queue$, IPC_SET, &now) == 0 && msgsnd(queue$, &message, 64, 0) == 0);
    must(pthread_create(&thread$, NULL, sender$, NULL) == 0);
}
static void give$(void) {
    struct message$ message;
    must(msgrcv(queue$, &message, 64, 2, 0) == 64 && message.text[1] == 'b');
}
static void take$(void) {
    struct message$ message;
    must(msgrcv(queue$, &message, 64, 1, 0) == 64 && message.text[1] == 'e');
}
static void finish$(void) {
    must(pthread_join(thread$, NULL) == 0);
    must(msgctl(queue$, IPC_RMID, NULL) == 0);
}

//: sysv_message_try | handover | msgrcv, IPC_NOWAIT, in a loop | ENOMSG
static int queue$;
struct message$ {
    long kind;
    char text[4];
};
static void setup$(void) { must((queue$ = msgget(IPC_PRIVATE, 0600)) >= 0); }
static void give$(void) {
    struct message$ message = {1, "abc"};
    must(msgsnd(queue$, &message, 4, IPC_NOWAIT) == 0);
}
static void take$(void) {
    struct message$ message;
    while (msgrcv(queue$, &message, 4, 0, IPC_NOWAIT) != 4) {
        must(errno == ENOMSG);
        sched_yield();
    }
}
static void finish$(void) { must(msgctl(queue$, IPC_RMID, NULL) == 0); }

//: sysv_sem_wait | handover | semop | any thread, any process
static int sem$;
static void setup$(void) { must((sem$ = semget(IPC_PRIVATE, 2, 0600)) >= 0); }
static void give$(void) {
    struct sembuf up = {1, 2, 0};
    must(semop(sem$, &up, 1) == 0);
}
static void take$(void) {
    struct sembuf down = {1, -2, 0};
    must(semop(sem$, &down, 1) == 0);
}
static void finish$(void) { must(semctl(sem$, 0, IPC_RMID) == 0); }

//: sysv_sem_zero | handover | semop, until zero | any thread, any process
static int sem$;
static void setup$(void) {
    must((sem$ = semget(IPC_PRIVATE, 1, 0600)) >= 0);
    must(semctl(sem$, 0, SETVAL, 1) == 0);
}
static void give$(void) {
    struct sembuf down = {0, -1, IPC_NOWAIT};
    must(semop(sem$, &down, 1) == 0);
}
static void take$(void) {
    struct sembuf zero = {0, 0, 0};
    must(semop(sem$, &zero, 1) == 0);
}
static void finish$(void) { must(semctl(sem$, 0, IPC_RMID) == 0); }

//: sysv_sem_set | handover | semtimedop in a loop, semctl | any thread, any process, or time
static int sem$;
static void setup$(void) { must((sem$ = semget(IPC_PRIVATE, 1, 0600)) >= 0); }
static void give$(void) { must(semctl(sem$, 0, SETVAL, 1) == 0); }
static void take$(void) {
    struct sembuf down = {0, -1, 0};
    struct timespec time = {0, 1000000};
    while (semtimedop(sem$, &down, 1, &time) != 0)
        must(errno == EAGAIN || errno == EINTR);
}
static void finish$(void) { must(semctl(sem$, 0, IPC_RMID) == 0); }

//: flock_handover | handover | flock in a loop | the owner, any process
static int file$, held$;
static char path$[40];
static void setup$(void) {
    file$ = nameless();
    snprintf(path$, sizeof path$, "/proc/self/fd/%d", file$);
    must((held$ = open(path$, O_RDWR)) >= 0 && flock(held$, LOCK_EX) == 0);
}
static void give$(void) { must(flock(held$, LOCK_UN) == 0); }
static void take$(void) { must(flock(file$, LOCK_SH) == 0); }

//: ofd_handover | handover | fcntl, F_OFD_SETLKW | the owner, any process
static int file$, held$;
static char path$[40];
static void setup$(void) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    file$ = nameless();
    snprintf(path$, sizeof path$, "/proc/self/fd/%d", file$);
    must((held$ = open(path$, O_RDWR)) >= 0 && fcntl(held$, F_OFD_SETLK, &lock) == 0);
}
static void give$(void) { must(close(held$) == 0); }
static void take$(void) {
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    must(fcntl(file$, F_OFD_SETLKW, &lock) == 0);
}
