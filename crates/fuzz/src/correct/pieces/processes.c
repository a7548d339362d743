//: fork_wait | own | waitpid | the child's end
static long run$(void) {
    long *value = shared_memory(sizeof *value);
    write$();
    pid_t child = fork();
    if (child == 0) {
        *value = read$();
        _exit(5);
    }
    must(child > 0 && exit_code(child) == 5);
    return *value;
}

//: fork_pipe | own | read of a pipe from a child | the child
static long run$(void) {
    int ends[2];
    long value = 0;
    must(pipe(ends) == 0);
    write$();
    pid_t child = fork();
    if (child == 0) {
        value = read$();
        must(write(ends[1], &value, sizeof value) == sizeof value);
        _exit(0);
    }
    close(ends[1]);
    must(read(ends[0], &value, sizeof value) == sizeof value);
    must(read(ends[0], ends, 1) == 0);
    must(exit_code(child) == 0);
    return value;
}

//: fork_threads | own | pthread_join in a child | the thread's end
static void *thread$(void *arg) {
    write$();
    return arg;
}
static long run$(void) {
    long *value = shared_memory(sizeof *value);
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        must(pthread_create(&thread, NULL, thread$, NULL) == 0);
        must(pthread_join(thread, NULL) == 0);
        *value = read$();
        _exit(0);
    }
    must(exit_code(child) == 0);
    return *value;
}

//: fork_sem | own | sem_wait, process-shared | the child
struct shared$ {
    sem_t sem;
    long value;
};
static long run$(void) {
    struct shared$ *shared = shared_memory(sizeof *shared);
    must(sem_init(&shared->sem, 1, 0) == 0);
    write$();
    pid_t child = fork();
    if (child == 0) {
        shared->value = read$();
        must(sem_post(&shared->sem) == 0);
        _exit(0);
    }
    down(&shared->sem);
    long value = shared->value;
    must(exit_code(child) == 0);
    return value;
}

//: fork_mutex | own | pthread_cond_wait, process-shared | the child
struct shared$ {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int is;
    long value;
};
static long run$(void) {
    struct shared$ *shared = shared_memory(sizeof *shared);
    pthread_mutexattr_t mutex;
    pthread_condattr_t cond;
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_condattr_init(&cond);
    pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED);
    must(pthread_mutex_init(&shared->lock, &mutex) == 0);
    must(pthread_cond_init(&shared->changed, &cond) == 0);
    write$();
    pid_t child = fork();
    if (child == 0) {
        must(pthread_mutex_lock(&shared->lock) == 0);
        shared->value = read$();
        shared->is = 1;
        must(pthread_cond_signal(&shared->changed) == 0);
        must(pthread_mutex_unlock(&shared->lock) == 0);
        _exit(0);
    }
    must(pthread_mutex_lock(&shared->lock) == 0);
    while (!shared->is)
        must(pthread_cond_wait(&shared->changed, &shared->lock) == 0);
    long value = shared->value;
    must(pthread_mutex_unlock(&shared->lock) == 0);
    must(exit_code(child) == 0);
    return value;
}

//: fork_barrier | own | pthread_barrier_wait, process-shared | the child
struct shared$ {
    pthread_barrier_t barrier;
    long value;
};
static long run$(void) {
    struct shared$ *shared = shared_memory(sizeof *shared);
    pthread_barrierattr_t attr;
    pthread_barrierattr_init(&attr);
    pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    must(pthread_barrier_init(&shared->barrier, &attr, 2) == 0);
    write$();
    pid_t child = fork();
    if (child == 0) {
        shared->value = read$();
        pthread_barrier_wait(&shared->barrier);
        _exit(0);
    }
    pthread_barrier_wait(&shared->barrier);
    long value = shared->value;
    must(exit_code(child) == 0);
    return value;
}

//: fork_rwlock | own | pthread_rwlock_rdlock in a loop, process-shared | the child
struct shared$ {
    pthread_rwlock_t lock;
    int is;
    long value;
};
static long run$(void) {
    struct shared$ *shared = shared_memory(sizeof *shared);
    pthread_rwlockattr_t attr;
    pthread_rwlockattr_init(&attr);
    pthread_rwlockattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    must(pthread_rwlock_init(&shared->lock, &attr) == 0);
    write$();
    pid_t child = fork();
    if (child == 0) {
        must(pthread_rwlock_wrlock(&shared->lock) == 0);
        shared->value = read$();
        shared->is = 1;
        must(pthread_rwlock_unlock(&shared->lock) == 0);
        _exit(0);
    }
    long value = 0;
    for (int seen = 0; !seen; usleep(100)) {
        must(pthread_rwlock_rdlock(&shared->lock) == 0);
        seen = shared->is;
        value = shared->value;
        must(pthread_rwlock_unlock(&shared->lock) == 0);
    }
    must(exit_code(child) == 0);
    return value;
}

//: fork_atomic | own | a loop over shared memory | the child
struct shared$ {
    atomic_int is;
    long value;
};
static long run$(void) {
    struct shared$ *shared = shared_memory(sizeof *shared);
    write$();
    pid_t child = fork();
    if (child == 0) {
        shared->value = read$();
        atomic_store(&shared->is, 1);
        _exit(0);
    }
    while (!atomic_load(&shared->is))
        sched_yield();
    long value = shared->value;
    must(exit_code(child) == 0);
    return value;
}

//: fork_futex | own | futex, process-shared | the child
struct shared$ {
    atomic_int is;
    long value;
};
static long run$(void) {
    struct shared$ *shared = shared_memory(sizeof *shared);
    write$();
    pid_t child = fork();
    if (child == 0) {
        shared->value = read$();
        atomic_store(&shared->is, 1);
        futex(&shared->is, FUTEX_WAKE, 1, NULL);
        _exit(0);
    }
    while (!atomic_load(&shared->is))
        futex(&shared->is, FUTEX_WAIT, 0, NULL);
    long value = shared->value;
    must(exit_code(child) == 0);
    return value;
}

//: fork_lockf | own | lockf | a process
static long run$(void) {
    long *value = shared_memory(sizeof *value);
    int file = nameless();
    write$();
    pid_t child = fork();
    for (int i = 0; i < 3; i++) {
        must(lockf(file, F_LOCK, 0) == 0);
        *value += read$();
        must(lockf(file, F_ULOCK, 0) == 0);
    }
    if (child == 0)
        _exit(0);
    must(exit_code(child) == 0);
    return *value / 6;
}

//: fork_fcntl | own | fcntl, F_SETLKW | a process
static long run$(void) {
    long *value = shared_memory(sizeof *value);
    int file = nameless();
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct flock unlock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    write$();
    pid_t child = fork();
    must(fcntl(file, F_SETLKW, &lock) == 0);
    *value += read$();
    must(fcntl(file, F_SETLK, &unlock) == 0);
    if (child == 0)
        _exit(0);
    must(exit_code(child) == 0);
    return *value / 2;
}

//: fork_signal | own | sigwait, kill by a child | the child
static long run$(void) {
    sigset_t set = only(SIGNAL$);
    int number;
    write$();
    pid_t child = fork();
    if (child == 0)
        _exit(kill(getppid(), SIGNAL$) == 0 ? 0 : 1);
    must(sigwait(&set, &number) == 0 && number == SIGNAL$);
    must(exit_code(child) == 0);
    return read$();
}

//: fork_handler | own | sem_wait, a child's signal | the child
static sem_t sem$;
static void arrive$(int number) {
    (void)number;
    sem_post(&sem$);
}
static long run$(void) {
    must(sem_init(&sem$, 0, 0) == 0);
    handle(SIGNAL$, arrive$);
    mask(SIG_UNBLOCK, SIGNAL$);
    write$();
    pid_t child = fork();
    if (child == 0)
        _exit(kill(getppid(), SIGNAL$) == 0 ? 0 : 1);
    down(&sem$);
    mask(SIG_BLOCK, SIGNAL$);
    must(exit_code(child) == 0);
    return read$();
}

//: fork_sigchld | own, uses SIGCHLD | sigwait for SIGCHLD | the child's end
static long run$(void) {
    sigset_t set = only(SIGCHLD);
    int number;
    write$();
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    must(sigwait(&set, &number) == 0);
    must(exit_code(child) == 0);
    return read$();
}

//: fork_killed | own | waitpid of a child that is killed | a signal
static long run$(void) {
    int status;
    write$();
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    must(kill(child, SIGKILL) == 0);
    must(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    return read$();
}

//: fork_stopped | own | waitid of a child that stops and goes on | signals
static long run$(void) {
    siginfo_t info;
    write$();
    pid_t child = fork();
    if (child == 0) {
        raise(SIGSTOP);
        _exit(0);
    }
    must(waitid(P_PID, child, &info, WSTOPPED) == 0 && info.si_code == CLD_STOPPED);
    must(kill(child, SIGCONT) == 0);
    must(exit_code(child) == 0);
    return read$();
}

//: fork_poll | own | waitpid, WNOHANG, in a loop | the child's end
static long run$(void) {
    int status;
    pid_t result;
    write$();
    pid_t child = fork();
    if (child == 0)
        _exit(9);
    while ((result = waitpid(child, &status, WNOHANG)) == 0)
        usleep(100);
    must(result == child && WEXITSTATUS(status) == 9);
    return read$();
}

//: clone_fork | own | waitpid of clone used as fork | the child's end
static long run$(void) {
    long *value = shared_memory(sizeof *value);
    write$();
    pid_t child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        *value = read$();
        _exit(0);
    }
    must(child > 0 && exit_code(child) == 0);
    return *value;
}

//: vfork | own | vfork, execve | the child
static long run$(void) {
    char *arguments[] = {"true", NULL};
    write$();
    pid_t child = vfork();
    if (child == 0) {
        execve("/bin/true", arguments, environ);
        _exit(1);
    }
    must(child > 0 && exit_code(child) == 0);
    return read$();
}

//: spawn | own | waitpid of posix_spawn | the child's end
static long run$(void) {
    char *arguments[] = {"sh", "-c", "exit 6", NULL};
    pid_t child;
    write$();
    must(posix_spawnp(&child, "sh", NULL, NULL, arguments, environ) == 0);
    must(exit_code(child) == 6);
    return read$();
}

//: spawn_output | own | read of a pipe from posix_spawn | the child
static long run$(void) {
    char *arguments[] = {"echo", "hi", NULL};
    char bytes[3];
    posix_spawn_file_actions_t actions;
    pid_t child;
    int ends[2];
    must(pipe2(ends, O_CLOEXEC) == 0);
    must(posix_spawn_file_actions_init(&actions) == 0);
    must(posix_spawn_file_actions_adddup2(&actions, ends[1], 1) == 0);
    write$();
    must(posix_spawnp(&child, "echo", &actions, NULL, arguments, environ) == 0);
    close(ends[1]);
    must(read(ends[0], bytes, 3) == 3 && bytes[0] == 'h');
    must(exit_code(child) == 0);
    return read$();
}

//: system | own, uses SIGCHLD | system | the child's end
static long run$(void) {
    write$();
    must(system("exit 3") == 3 << 8);
    return read$();
}

//: popen | own | fgets of popen, pclose | the child
static long run$(void) {
    char line[8];
    write$();
    FILE *stream = popen("echo hi", "r");
    must(stream && fgets(line, sizeof line, stream) && strcmp(line, "hi\n") == 0);
    must(pclose(stream) == 0);
    return read$();
}

//: atfork | own | waitpid, pthread_atfork | the child's end
static pthread_mutex_t lock$ = PTHREAD_MUTEX_INITIALIZER;
static int before$, in_parent$, in_child$;
static void prepare$(void) {
    pthread_mutex_lock(&lock$);
    before$++;
}
static void parent$(void) {
    in_parent$++;
    pthread_mutex_unlock(&lock$);
}
static void child$(void) {
    in_child$++;
    pthread_mutex_unlock(&lock$);
}
static void *thread$(void *arg) {
    pthread_mutex_lock(&lock$);
    write$();
    pthread_mutex_unlock(&lock$);
    return arg;
}
static long run$(void) {
    pthread_t thread;
    static int registered;
    if (!registered++)
        must(pthread_atfork(prepare$, parent$, child$) == 0);
    must(pthread_create(&thread, NULL, thread$, NULL) == 0);
    pid_t child = fork();
    if (child == 0) {
        must(pthread_mutex_lock(&lock$) == 0);
        _exit(in_child$ >= 1 ? 0 : 1);
    }
    must(exit_code(child) == 0);
    must(pthread_join(thread, NULL) == 0);
    must(pthread_mutex_lock(&lock$) == 0);
    must(before$ >= 1 && in_parent$ >= 1);
    must(pthread_mutex_unlock(&lock$) == 0);
    return read$();
}

//: robust_child | own | pthread_mutex_lock, robust, of a dead process | EOWNERDEAD
struct shared$ {
    pthread_mutex_t lock;
    long value;
};
static long run$(void) {
    struct shared$ *shared = shared_memory(sizeof *shared);
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    must(pthread_mutex_init(&shared->lock, &attr) == 0);
    write$();
    pid_t child = fork();
    if (child == 0) {
        must(pthread_mutex_lock(&shared->lock) == 0);
        shared->value = read$();
        _exit(0);
    }
    must(exit_code(child) == 0);
    must(pthread_mutex_lock(&shared->lock) == EOWNERDEAD);
    must(pthread_mutex_consistent(&shared->lock) == 0);
    must(pthread_mutex_unlock(&shared->lock) == 0);
    return shared->value;
}

//: atexit | own | exit, atexit | the handler
static void at_exit$(void) { must(read$() > 0); }
static void *thread$(void *arg) {
    write$();
    must(atexit(at_exit$) == 0);
    return arg;
}
static long run$(void) {
    pthread_t thread;
    must(pthread_create(&thread, NULL, thread$, NULL) == 0);
    must(pthread_join(thread, NULL) == 0);
    return read$();
}
