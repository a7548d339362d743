//! The C library's own functions, found behind our symbols of the same names.

use core::ffi::{CStr, c_char, c_int, c_long, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

/// Declares functions that call the real ones. They are looked up when the runtime starts, or
/// at the first call if that comes earlier.
macro_rules! real_functions {
    ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty $(, $version:literal)?;)*) => {
        $(
            #[doc = concat!("The real `", stringify!($name), "`.")]
            ///
            /// # Safety
            /// As for the C function.
            #[inline]
            #[allow(non_snake_case)]
            pub unsafe fn $name($($arg: $type),*) -> $result {
                let address = match addresses::$name.load(Ordering::Relaxed) {
                    0 => find(&addresses::$name, names::$name, versions::$name),
                    address => address,
                };
                // SAFETY: the loader gave the address of the function with this name, whose type
                // is the one declared here.
                unsafe {
                    let function: unsafe extern "C" fn($($type),*) -> $result =
                        core::mem::transmute(address);
                    function($($arg),*)
                }
            }
        )*
        #[allow(non_upper_case_globals)]
        mod addresses {
            use super::AtomicUsize;
            $(pub static $name: AtomicUsize = AtomicUsize::new(0);)*
        }
        #[allow(non_upper_case_globals)]
        mod names {
            $(pub const $name: &str = concat!(stringify!($name), "\0");)*
        }
        #[allow(non_upper_case_globals)]
        mod versions {
            $(pub const $name: &str = concat!($($version,)? "\0");)*
        }
        /// Looks up all functions.
        pub fn resolve() {
            $(find(&addresses::$name, names::$name, versions::$name);)*
        }
    };
}

/// Looks up a function behind ours; a stub that fails if the C library does not have it.
#[cold]
fn find(address: &AtomicUsize, name: &str, version: &str) -> usize {
    // SAFETY: both end with a zero byte, as the macro writes them.
    let found = unsafe {
        let name = name.as_ptr().cast::<c_char>();
        if version == "\0" {
            libc::dlsym(libc::RTLD_NEXT, name)
        } else {
            libc::dlvsym(libc::RTLD_NEXT, name, version.as_ptr().cast::<c_char>())
        }
    };
    let found = if found.is_null() {
        missing as *const () as usize
    } else {
        found as usize
    };
    address.store(found, Ordering::Relaxed);
    found
}

/// Stands in for a function that this C library does not have.
extern "C" fn missing() -> c_int {
    libc::ENOSYS
}

type Start = extern "C" fn(*mut c_void) -> *mut c_void;
type Routine = extern "C" fn();

real_functions! {
    getrandom(place: usize, length: usize, flags: u32) -> isize;
    getentropy(place: usize, length: usize) -> c_int;
    arc4random() -> u32;
    arc4random_buf(place: usize, length: usize) -> ();
    arc4random_uniform(bound: u32) -> u32;
    rand() -> c_int;
    random() -> c_long;
    lrand48() -> c_long;
    mrand48() -> c_long;
    drand48() -> f64;
    pthread_create(
        handle: *mut libc::pthread_t, attr: *const libc::pthread_attr_t, start: Start,
        argument: *mut c_void
    ) -> c_int;
    pthread_join(handle: libc::pthread_t, result: *mut *mut c_void) -> c_int;
    pthread_tryjoin_np(handle: libc::pthread_t, result: *mut *mut c_void) -> c_int;
    pthread_timedjoin_np(
        handle: libc::pthread_t, result: *mut *mut c_void, time: *const libc::timespec
    ) -> c_int;
    pthread_clockjoin_np(
        handle: libc::pthread_t, result: *mut *mut c_void, clock: c_int,
        time: *const libc::timespec
    ) -> c_int;
    pthread_detach(handle: libc::pthread_t) -> c_int;
    pthread_exit(result: *mut c_void) -> usize;
    pthread_cancel(handle: libc::pthread_t) -> c_int;
    pthread_testcancel() -> usize;
    mkfifo(path: usize, mode: u32) -> c_int;
    mkfifoat(folder: c_int, path: usize, mode: u32) -> c_int;
    mknod(path: usize, mode: u32, device: u64) -> c_int;
    mknodat(folder: c_int, path: usize, mode: u32, device: u64) -> c_int;
    _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv(element: usize) -> usize;
    pthread_setcanceltype(kind: c_int, old: usize) -> c_int;
    pthread_setname_np(handle: libc::pthread_t, name: *const c_char) -> c_int;
    pthread_kill(handle: libc::pthread_t, signal: c_int) -> c_int;
    pthread_mutex_init(lock: usize, attr: usize) -> c_int;
    pthread_mutex_destroy(lock: usize) -> c_int;
    pthread_mutex_lock(lock: usize) -> c_int;
    pthread_mutex_trylock(lock: usize) -> c_int;
    pthread_mutex_timedlock(lock: usize, time: usize) -> c_int;
    pthread_mutex_clocklock(lock: usize, clock: c_int, time: usize) -> c_int;
    pthread_mutex_unlock(lock: usize) -> c_int;
    pthread_rwlock_init(lock: usize, attr: usize) -> c_int;
    pthread_rwlock_destroy(lock: usize) -> c_int;
    pthread_rwlock_rdlock(lock: usize) -> c_int;
    pthread_rwlock_tryrdlock(lock: usize) -> c_int;
    pthread_rwlock_timedrdlock(lock: usize, time: usize) -> c_int;
    pthread_rwlock_clockrdlock(lock: usize, clock: c_int, time: usize) -> c_int;
    pthread_rwlock_wrlock(lock: usize) -> c_int;
    pthread_rwlock_trywrlock(lock: usize) -> c_int;
    pthread_rwlock_timedwrlock(lock: usize, time: usize) -> c_int;
    pthread_rwlock_clockwrlock(lock: usize, clock: c_int, time: usize) -> c_int;
    pthread_rwlock_unlock(lock: usize) -> c_int;
    pthread_spin_init(lock: usize, shared: c_int) -> c_int;
    pthread_spin_destroy(lock: usize) -> c_int;
    pthread_spin_lock(lock: usize) -> c_int;
    pthread_spin_trylock(lock: usize) -> c_int;
    pthread_spin_unlock(lock: usize) -> c_int;
    pthread_cond_init(condition: usize, attr: usize) -> c_int, "GLIBC_2.3.2";
    pthread_cond_destroy(condition: usize) -> c_int, "GLIBC_2.3.2";
    pthread_cond_wait(condition: usize, lock: usize) -> c_int, "GLIBC_2.3.2";
    pthread_cond_timedwait(condition: usize, lock: usize, time: usize) -> c_int, "GLIBC_2.3.2";
    pthread_cond_clockwait(condition: usize, lock: usize, clock: c_int, time: usize) -> c_int;
    pthread_cond_signal(condition: usize) -> c_int, "GLIBC_2.3.2";
    pthread_cond_broadcast(condition: usize) -> c_int, "GLIBC_2.3.2";
    pthread_barrier_init(barrier: usize, attr: usize, count: u32) -> c_int;
    pthread_barrier_destroy(barrier: usize) -> c_int;
    pthread_barrier_wait(barrier: usize) -> c_int;
    pthread_once(control: usize, routine: Routine) -> c_int;
    sem_init(semaphore: usize, shared: c_int, value: u32) -> c_int;
    sem_destroy(semaphore: usize) -> c_int;
    sem_wait(semaphore: usize) -> c_int;
    sem_trywait(semaphore: usize) -> c_int;
    sem_timedwait(semaphore: usize, time: usize) -> c_int;
    sem_clockwait(semaphore: usize, clock: c_int, time: usize) -> c_int;
    sem_post(semaphore: usize) -> c_int;
    __cxa_guard_acquire(guard: usize) -> c_int;
    __cxa_guard_release(guard: usize) -> usize;
    __cxa_guard_abort(guard: usize) -> usize;
    memcpy(to: usize, from: usize, length: usize) -> usize, "GLIBC_2.14";
    memmove(to: usize, from: usize, length: usize) -> usize;
    memset(to: usize, byte: c_int, length: usize) -> usize;
    memcmp(left: usize, right: usize, length: usize) -> c_int;
    strlen(text: usize) -> usize;
    malloc_usable_size(block: usize) -> usize;
    read(fd: c_int, buffer: usize, length: usize) -> isize;
    write(fd: c_int, buffer: usize, length: usize) -> isize;
    readv(fd: c_int, pieces: usize, count: c_int) -> isize;
    writev(fd: c_int, pieces: usize, count: c_int) -> isize;
    recv(fd: c_int, buffer: usize, length: usize, flags: c_int) -> isize;
    send(fd: c_int, buffer: usize, length: usize, flags: c_int) -> isize;
    recvfrom(
        fd: c_int, buffer: usize, length: usize, flags: c_int, address: usize, size: usize
    ) -> isize;
    sendto(
        fd: c_int, buffer: usize, length: usize, flags: c_int, address: usize, size: u32
    ) -> isize;
    recvmsg(fd: c_int, message: usize, flags: c_int) -> isize;
    sendmsg(fd: c_int, message: usize, flags: c_int) -> isize;
    sendfile(to: c_int, from: c_int, offset: usize, count: usize) -> isize;
    splice(
        from: c_int, from_offset: usize, to: c_int, to_offset: usize, length: usize, flags: u32
    ) -> isize;
    tee(from: c_int, to: c_int, length: usize, flags: u32) -> isize;
    vmsplice(fd: c_int, pieces: usize, count: usize, flags: u32) -> isize;
    sendmmsg(fd: c_int, messages: usize, count: u32, flags: c_int) -> c_int;
    recvmmsg(fd: c_int, messages: usize, count: u32, flags: c_int, timeout: usize) -> c_int;
    __read_chk(fd: c_int, buffer: usize, length: usize, size: usize) -> isize;
    __recv_chk(fd: c_int, buffer: usize, length: usize, size: usize, flags: c_int) -> isize;
    __recvfrom_chk(
        fd: c_int, buffer: usize, length: usize, size: usize, flags: c_int, address: usize,
        address_size: usize
    ) -> isize;
    __poll_chk(fds: usize, count: u64, timeout: c_int, size: usize) -> c_int;
    accept(fd: c_int, address: usize, size: usize) -> c_int;
    accept4(fd: c_int, address: usize, size: usize, flags: c_int) -> c_int;
    connect(fd: c_int, address: usize, size: u32) -> c_int;
    poll(fds: usize, count: u64, timeout: c_int) -> c_int;
    ppoll(fds: usize, count: u64, timeout: usize, mask: usize) -> c_int;
    select(count: c_int, read: usize, write: usize, except: usize, timeout: usize) -> c_int;
    pselect(
        count: c_int, read: usize, write: usize, except: usize, timeout: usize, mask: usize
    ) -> c_int;
    close(fd: c_int) -> c_int;
    shutdown(fd: c_int, how: c_int) -> c_int;
    open(path: usize, flags: c_int, mode: u32) -> c_int;
    open64(path: usize, flags: c_int, mode: u32) -> c_int;
    openat(folder: c_int, path: usize, flags: c_int, mode: u32) -> c_int;
    openat64(folder: c_int, path: usize, flags: c_int, mode: u32) -> c_int;
    creat(path: usize, mode: u32) -> c_int;
    fdopen(fd: c_int, mode: usize) -> *mut c_void;
    fopen(path: usize, mode: usize) -> *mut c_void;
    fopen64(path: usize, mode: usize) -> *mut c_void;
    socket(family: c_int, kind: c_int, protocol: c_int) -> c_int;
    socketpair(family: c_int, kind: c_int, protocol: c_int, numbers: *mut c_int) -> c_int;
    pipe(numbers: *mut c_int) -> c_int;
    pipe2(numbers: *mut c_int, flags: c_int) -> c_int;
    dup(fd: c_int) -> c_int;
    dup2(fd: c_int, new: c_int) -> c_int;
    dup3(fd: c_int, new: c_int, flags: c_int) -> c_int;
    fcntl(fd: c_int, command: c_int, argument: usize) -> c_int;
    fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int;
    eventfd(value: u32, flags: c_int) -> c_int;
    inotify_init() -> c_int;
    inotify_init1(flags: c_int) -> c_int;
    inotify_rm_watch(fd: c_int, watch: c_int) -> c_int;
    rename(from: usize, to: usize) -> c_int;
    renameat(old: c_int, from: usize, new: c_int, to: usize) -> c_int;
    renameat2(old: c_int, from: usize, new: c_int, to: usize, how: u32) -> c_int;
    unlink(path: usize) -> c_int;
    unlinkat(folder: c_int, path: usize, flags: c_int) -> c_int;
    remove(path: usize) -> c_int;
    link(from: usize, to: usize) -> c_int;
    linkat(old: c_int, from: usize, new: c_int, to: usize, how: c_int) -> c_int;
    symlink(target: usize, path: usize) -> c_int;
    symlinkat(target: usize, folder: c_int, path: usize) -> c_int;
    mkdir(path: usize, mode: u32) -> c_int;
    mkdirat(folder: c_int, path: usize, mode: u32) -> c_int;
    rmdir(path: usize) -> c_int;
    truncate(path: usize, length: i64) -> c_int;
    truncate64(path: usize, length: i64) -> c_int;
    ftruncate(fd: c_int, length: i64) -> c_int;
    ftruncate64(fd: c_int, length: i64) -> c_int;
    timerfd_settime(fd: c_int, flags: c_int, new: usize, old: usize) -> c_int;
    close_range(first: u32, last: u32, flags: u32) -> c_int;
    timerfd_create(clock: c_int, flags: c_int) -> c_int;
    memfd_create(name: usize, flags: u32) -> c_int;
    epoll_create(size: c_int) -> c_int;
    epoll_create1(flags: c_int) -> c_int;
    epoll_ctl(epoll: c_int, what: c_int, fd: c_int, event: usize) -> c_int;
    epoll_wait(fd: c_int, events: usize, most: c_int, timeout: c_int) -> c_int;
    epoll_pwait(fd: c_int, events: usize, most: c_int, timeout: c_int, mask: usize) -> c_int;
    wait(status: usize) -> c_int;
    waitpid(process: c_int, status: usize, options: c_int) -> c_int;
    wait4(process: c_int, status: usize, options: c_int, usage: usize) -> c_int;
    waitid(kind: c_int, id: u32, info: usize, options: c_int) -> c_int;
    flock(fd: c_int, operation: c_int) -> c_int;
    lockf(fd: c_int, command: c_int, length: libc::off_t) -> c_int;
    mq_open(name: usize, flags: c_int, mode: u32, attributes: usize) -> c_int;
    mq_close(queue: c_int) -> c_int;
    mq_send(queue: c_int, message: usize, length: usize, priority: u32) -> c_int;
    mq_timedsend(
        queue: c_int, message: usize, length: usize, priority: u32, time: usize
    ) -> c_int;
    mq_receive(queue: c_int, message: usize, length: usize, priority: usize) -> isize;
    mq_timedreceive(
        queue: c_int, message: usize, length: usize, priority: usize, time: usize
    ) -> isize;
    msgget(key: c_int, flags: c_int) -> c_int;
    semget(key: c_int, count: c_int, flags: c_int) -> c_int;
    msgsnd(queue: c_int, message: usize, length: usize, flags: c_int) -> c_int;
    msgrcv(queue: c_int, message: usize, length: usize, kind: c_long, flags: c_int) -> isize;
    msgctl(queue: c_int, command: c_int, argument: usize) -> c_int;
    semop(set: c_int, operations: usize, count: usize) -> c_int;
    semtimedop(set: c_int, operations: usize, count: usize, time: usize) -> c_int;
    semctl(set: c_int, number: c_int, command: c_int, argument: usize) -> c_int;
    __cxa_atexit(function: usize, argument: usize, library: usize) -> c_int;
    on_exit(function: usize, argument: usize) -> c_int;
    __register_atfork(prepare: usize, parent: usize, child: usize, library: usize) -> c_int;
    pause() -> c_int;
    sigwait(set: usize, signal: usize) -> c_int;
    sigwaitinfo(set: usize, info: usize) -> c_int;
    sigtimedwait(set: usize, info: usize, time: usize) -> c_int;
    sigsuspend(mask: usize) -> c_int;
    pthread_mutexattr_setpshared(attributes: usize, shared: c_int) -> c_int;
    pthread_rwlockattr_setpshared(attributes: usize, shared: c_int) -> c_int;
    pthread_condattr_setpshared(attributes: usize, shared: c_int) -> c_int;
    pthread_barrierattr_setpshared(attributes: usize, shared: c_int) -> c_int;
    sem_open(name: usize, flags: c_int, mode: u32, value: u32) -> usize;
    sigpending(place: usize) -> c_int;
    sigaltstack(new: usize, old: usize) -> c_int;
    signalfd(fd: c_int, set: usize, flags: c_int) -> c_int;
    raise(signal: c_int) -> c_int;
    pthread_sigqueue(handle: libc::pthread_t, signal: c_int, value: usize) -> c_int;
    aio_read(request: usize) -> c_int;
    aio_write(request: usize) -> c_int;
    aio_fsync(kind: c_int, request: usize) -> c_int;
    aio_read64(request: usize) -> c_int;
    aio_write64(request: usize) -> c_int;
    lio_listio(how: c_int, list: usize, count: c_int, event: usize) -> c_int;
    getaddrinfo_a(how: c_int, list: usize, count: c_int, event: usize) -> c_int;
    mq_notify(queue: c_int, event: usize) -> c_int;
    alarm(seconds: u32) -> u32;
    ualarm(microseconds: u32, interval: u32) -> u32;
    setitimer(which: c_int, new: usize, old: usize) -> c_int;
    getitimer(which: c_int, place: usize) -> c_int;
    timer_create(clock: c_int, event: usize, place: usize) -> c_int;
    timer_settime(id: usize, flags: c_int, new: usize, old: usize) -> c_int;
    timer_gettime(id: usize, place: usize) -> c_int;
    timer_delete(id: usize) -> c_int;
    timer_getoverrun(id: usize) -> c_int;
    setuid(user: u32) -> c_int;
    seteuid(user: u32) -> c_int;
    setreuid(real_user: u32, user: u32) -> c_int;
    setresuid(real_user: u32, user: u32, saved: u32) -> c_int;
    setgid(group: u32) -> c_int;
    setegid(group: u32) -> c_int;
    setregid(real_group: u32, group: u32) -> c_int;
    setresgid(real_group: u32, group: u32, saved: u32) -> c_int;
    setgroups(count: usize, groups: *const u32) -> c_int;
    initgroups(user: *const c_char, group: u32) -> c_int;
    sleep(seconds: u32) -> u32;
    usleep(microseconds: u32) -> c_int;
    nanosleep(time: usize, rest: usize) -> c_int;
    clock_nanosleep(clock: c_int, flags: c_int, time: usize, rest: usize) -> c_int;
    clock_gettime(clock: c_int, place: usize) -> c_int;
    gettimeofday(place: usize, zone: usize) -> c_int;
    time(place: usize) -> libc::time_t;
    timespec_get(place: usize, base: c_int) -> c_int;
    clock() -> libc::clock_t;
    times(place: usize) -> libc::clock_t;
    getrusage(who: c_int, place: usize) -> c_int;
    sched_yield() -> c_int;
    sched_getcpu() -> c_int;
    kill(process: c_int, signal: c_int) -> c_int;
    tgkill(process: c_int, thread: c_int, signal: c_int) -> c_int;
    sigqueue(process: c_int, signal: c_int, value: usize) -> c_int;
    fork() -> c_int;
    _Fork() -> c_int;
    clone(
        function: extern "C" fn(*mut c_void) -> c_int, stack: usize, flags: c_int,
        argument: *mut c_void, parent: usize, storage: usize, child: usize
    ) -> c_int;
    forkpty(master: usize, name: usize, terminal: usize, size: usize) -> c_int;
    daemon(stay: c_int, keep: c_int) -> c_int;
    posix_spawn(
        process: usize, path: usize, actions: usize, attributes: usize, arguments: usize,
        environment: usize
    ) -> c_int, "GLIBC_2.15";
    posix_spawnp(
        process: usize, file: usize, actions: usize, attributes: usize, arguments: usize,
        environment: usize
    ) -> c_int, "GLIBC_2.15";
    system(command: *const c_char) -> c_int;
    popen(command: *const c_char, kind: *const c_char) -> *mut c_void;
    wordexp(words: *const c_char, place: usize, flags: c_int) -> c_int;
    _exit(code: c_int) -> usize;
    quick_exit(code: c_int) -> usize;
    exit(code: c_int) -> usize;
    abort() -> usize;
    __assert_fail(text: usize, file: usize, line: u32, function: usize) -> usize;
    __assert_perror_fail(error: c_int, file: usize, line: u32, function: usize) -> usize;
    execve(path: usize, arguments: usize, environment: usize) -> c_int;
    execv(path: usize, arguments: usize) -> c_int;
    execvp(path: usize, arguments: usize) -> c_int;
    execvpe(path: usize, arguments: usize, environment: usize) -> c_int;
    fexecve(fd: c_int, arguments: usize, environment: usize) -> c_int;
    pthread_sigmask(how: c_int, new: usize, old: usize) -> c_int;
    sigprocmask(how: c_int, new: usize, old: usize) -> c_int;
    sigaction(signal: c_int, new: usize, old: usize) -> c_int;
    dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    dlclose(library: *mut c_void) -> c_int;
    mmap(
        wanted: usize, length: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64
    ) -> usize;
    shmat(segment: c_int, wanted: usize, flags: c_int) -> usize;
    shmdt(address: usize) -> c_int;
    sbrk(by: isize) -> usize;
    munmap(address: usize, length: usize) -> c_int;
    sched_getaffinity(process: c_int, size: usize, set: *mut u8) -> c_int;
    sched_setaffinity(process: c_int, size: usize, set: *const u8) -> c_int;
    pthread_getaffinity_np(thread: libc::pthread_t, size: usize, set: *mut u8) -> c_int;
    pthread_setaffinity_np(thread: libc::pthread_t, size: usize, set: *const u8) -> c_int;
    mremap(
        address: usize, length: usize, new_length: usize, flags: c_int, new_address: usize
    ) -> usize;
    mprotect(address: usize, length: usize, protection: c_int) -> c_int;
    longjmp(buffer: usize, value: c_int) -> usize;
    siglongjmp(buffer: usize, value: c_int) -> usize;
    _longjmp(buffer: usize, value: c_int) -> usize;
    __longjmp_chk(buffer: usize, value: c_int) -> usize;
    fwrite(from: usize, size: usize, count: usize, stream: usize) -> usize;
    fputs(text: *const c_char, stream: usize) -> c_int;
    puts(text: *const c_char) -> c_int;
    fputc(byte: c_int, stream: usize) -> c_int;
    __overflow(stream: usize, byte: c_int) -> c_int;
    vfprintf(stream: usize, format: usize, list: usize) -> c_int;
    __vfprintf_chk(stream: usize, how: c_int, format: usize, list: usize) -> c_int;
    fflush(stream: usize) -> c_int;
    fclose(stream: usize) -> c_int;
    pclose(stream: usize) -> c_int;
    fread(to: usize, size: usize, count: usize, stream: usize) -> usize;
    __fread_chk(to: usize, room: usize, size: usize, count: usize, stream: usize) -> usize;
    fgets(to: usize, size: c_int, stream: usize) -> usize;
    __fgets_chk(to: usize, room: usize, size: c_int, stream: usize) -> usize;
    fgetc(stream: usize) -> c_int;
    ungetc(byte: c_int, stream: usize) -> c_int;
    _IO_doallocbuf(stream: usize) -> ();
    getdelim(line: *mut usize, room: *mut usize, end: c_int, stream: usize) -> isize;
    vfscanf(stream: usize, format: usize, list: usize) -> c_int;
    __isoc99_vfscanf(stream: usize, format: usize, list: usize) -> c_int;
    __isoc23_vfscanf(stream: usize, format: usize, list: usize) -> c_int;
    __cxa_at_quick_exit(function: usize, library: usize) -> c_int;
    flockfile(stream: usize) -> ();
    ftrylockfile(stream: usize) -> c_int;
    funlockfile(stream: usize) -> ();
}

/// A C string's bytes without the closing zero.
///
/// # Safety
/// `text` points to a C string.
pub unsafe fn c_string<'a>(text: *const c_char) -> &'a [u8] {
    // SAFETY: as the caller says.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}

/// Functions that answer where a real function is, for those that are jumped to.
macro_rules! real_addresses {
    ($($name:ident $function:literal;)*) => { $(
        #[doc = concat!("Where the real `", $function, "` is.")]
        pub extern "C" fn $name() -> usize {
            static ADDRESS: AtomicUsize = AtomicUsize::new(0);
            match ADDRESS.load(Ordering::Relaxed) {
                0 => find(&ADDRESS, concat!($function, "\0"), "\0"),
                address => address,
            }
        }
    )* };
}

real_addresses! {
    address_of_dprintf "dprintf";
    address_of_dprintf_chk "__dprintf_chk";
    address_of_vdprintf "vdprintf";
    address_of_vdprintf_chk "__vdprintf_chk";
    address_of_execl "execl";
    address_of_execlp "execlp";
    address_of_execle "execle";
}
