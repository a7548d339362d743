//: mutex | exclusion | Mutex::lock | the owner
static LOCK$: Mutex<()> = Mutex::new(());
thread_local! { static GUARD$: RefCell<Option<MutexGuard<'static, ()>>> = RefCell::new(None); }
fn enter$() {
    let guard = LOCK$.lock().unwrap();
    GUARD$.with(|place| *place.borrow_mut() = Some(guard));
}
fn leave$() {
    GUARD$.with(|place| place.borrow_mut().take());
}

//: mutex_try | exclusion | Mutex::try_lock in a loop | WouldBlock
static LOCK$: Mutex<()> = Mutex::new(());
thread_local! { static GUARD$: RefCell<Option<MutexGuard<'static, ()>>> = RefCell::new(None); }
fn enter$() {
    let guard = loop {
        if let Ok(guard) = LOCK$.try_lock() {
            break guard;
        }
        thread::yield_now();
    };
    GUARD$.with(|place| *place.borrow_mut() = Some(guard));
}
fn leave$() {
    GUARD$.with(|place| place.borrow_mut().take());
}

//: rwlock | exclusion | RwLock::read, RwLock::write | the owners
static LOCK$: RwLock<()> = RwLock::new(());
thread_local! {
    static GUARD$: RefCell<Option<std::sync::RwLockWriteGuard<'static, ()>>> = RefCell::new(None);
}
fn enter$() {
    {
        let _reading = LOCK$.read().unwrap();
        assert!(read$() >= 0);
    }
    let guard = LOCK$.write().unwrap();
    GUARD$.with(|place| *place.borrow_mut() = Some(guard));
}
fn leave$() {
    GUARD$.with(|place| place.borrow_mut().take());
}

//: spin | exclusion | compare_exchange_weak in a loop | the owner
static LOCK$: AtomicBool = AtomicBool::new(false);
fn enter$() {
    while LOCK$.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
        std::hint::spin_loop();
    }
}
fn leave$() {
    LOCK$.store(false, Release);
}

//: monitor | exclusion | Condvar::wait_while | any thread
static BUSY$: Mutex<bool> = Mutex::new(false);
static FREE$: Condvar = Condvar::new();
fn enter$() {
    let mut busy = FREE$.wait_while(BUSY$.lock().unwrap(), |busy| *busy).unwrap();
    *busy = true;
}
fn leave$() {
    *BUSY$.lock().unwrap() = false;
    FREE$.notify_one();
}

//: condvar | handover | Condvar::wait | any thread
static IS$: Mutex<bool> = Mutex::new(false);
static CHANGED$: Condvar = Condvar::new();
fn give$() {
    *IS$.lock().unwrap() = true;
    CHANGED$.notify_all();
}
fn take$() {
    let mut is = IS$.lock().unwrap();
    while !*is {
        is = CHANGED$.wait(is).unwrap();
    }
}

//: condvar_timeout | handover | Condvar::wait_timeout in a loop | any thread, or time
static IS$: Mutex<bool> = Mutex::new(false);
static CHANGED$: Condvar = Condvar::new();
fn give$() {
    *IS$.lock().unwrap() = true;
}
fn take$() {
    let mut is = IS$.lock().unwrap();
    while !*is {
        is = CHANGED$.wait_timeout(is, SOON).unwrap().0;
    }
}

//: channel | handover | Receiver::recv | any thread
static ENDS$: OnceLock<(Mutex<Sender<i32>>, Mutex<Receiver<i32>>)> = OnceLock::new();
fn setup$() {
    let (sender, receiver) = channel();
    ENDS$.set((Mutex::new(sender), Mutex::new(receiver))).unwrap();
}
fn give$() {
    ENDS$.get().unwrap().0.lock().unwrap().send(5).unwrap();
}
fn take$() {
    assert_eq!(ENDS$.get().unwrap().1.lock().unwrap().recv(), Ok(5));
}

//: channel_timeout | handover | Receiver::recv_timeout in a loop | any thread, or time
static ENDS$: OnceLock<(Mutex<Sender<Box<i32>>>, Mutex<Receiver<Box<i32>>>)> = OnceLock::new();
fn setup$() {
    let (sender, receiver) = channel();
    ENDS$.set((Mutex::new(sender), Mutex::new(receiver))).unwrap();
}
fn give$() {
    ENDS$.get().unwrap().0.lock().unwrap().send(Box::new(5)).unwrap();
}
fn take$() {
    let receiver = ENDS$.get().unwrap().1.lock().unwrap();
    while receiver.recv_timeout(SOON).is_err() {}
}

//: channel_rendezvous | handover, meets | SyncSender::send, rendezvous | whoever receives
static ENDS$: OnceLock<(Mutex<SyncSender<i32>>, Mutex<Receiver<i32>>)> = OnceLock::new();
fn setup$() {
    let (sender, receiver) = sync_channel(0);
    ENDS$.set((Mutex::new(sender), Mutex::new(receiver))).unwrap();
}
fn give$() {
    ENDS$.get().unwrap().0.lock().unwrap().send(5).unwrap();
}
fn take$() {
    assert_eq!(ENDS$.get().unwrap().1.lock().unwrap().recv(), Ok(5));
}

//: barrier | handover, meets | Barrier::wait | all threads
static BARRIER$: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(2));
fn give$() {
    BARRIER$.wait();
}
fn take$() {
    BARRIER$.wait();
}

//: park | handover, meets | thread::park | unpark
static TAKER$: OnceLock<thread::Thread> = OnceLock::new();
static IS$: AtomicBool = AtomicBool::new(false);
fn give$() {
    let taker = TAKER$.wait();
    IS$.store(true, Release);
    taker.unpark();
}
fn take$() {
    TAKER$.set(thread::current()).unwrap();
    while !IS$.load(Acquire) {
        thread::park();
    }
}

//: park_timeout | handover | thread::park_timeout in a loop | unpark, or time
static IS$: AtomicBool = AtomicBool::new(false);
fn give$() {
    IS$.store(true, Release);
}
fn take$() {
    while !IS$.load(Acquire) {
        thread::park_timeout(SOON);
    }
}

//: release_acquire | handover | load, Acquire, in a loop | any thread
static IS$: AtomicU8 = AtomicU8::new(0);
fn give$() {
    IS$.store(1, Release);
}
fn take$() {
    while IS$.load(Acquire) == 0 {
        thread::yield_now();
    }
}

//: fences | handover | load, Relaxed, then fence | any thread
static IS$: AtomicUsize = AtomicUsize::new(0);
fn give$() {
    fence(Release);
    IS$.store(1, Relaxed);
}
fn take$() {
    while IS$.load(Relaxed) == 0 {
        thread::yield_now();
    }
    fence(Acquire);
}

//: cas_failure | handover | compare_exchange, failing | any thread
static IS$: AtomicI32 = AtomicI32::new(0);
fn give$() {
    IS$.fetch_add(1, Release);
}
fn take$() {
    while IS$.compare_exchange(0, 0, Relaxed, Acquire).is_ok() {
        thread::yield_now();
    }
}

//: once_lock | handover | OnceLock::wait | any thread
static IS$: OnceLock<i32> = OnceLock::new();
fn give$() {
    IS$.set(7).unwrap();
}
fn take$() {
    assert_eq!(*IS$.wait(), 7);
}

//: socket | handover | read of a socket pair | any thread
static ENDS$: OnceLock<(UnixStream, UnixStream)> = OnceLock::new();
fn setup$() {
    ENDS$.set(UnixStream::pair().unwrap()).unwrap();
}
fn give$() {
    (&ENDS$.get().unwrap().0).write_all(b"line\n").unwrap();
}
fn take$() {
    let mut line = String::new();
    BufReader::new(&ENDS$.get().unwrap().1).read_line(&mut line).unwrap();
    assert_eq!(line, "line\n");
}

//: pipe | handover | read of a pipe | any thread
static ENDS$: OnceLock<(std::io::PipeReader, std::io::PipeWriter)> = OnceLock::new();
fn setup$() {
    ENDS$.set(std::io::pipe().unwrap()).unwrap();
}
fn give$() {
    (&ENDS$.get().unwrap().1).write_all(b"x").unwrap();
}
fn take$() {
    (&ENDS$.get().unwrap().0).read_exact(&mut [0]).unwrap();
}

//: join | own | JoinHandle::join | the thread's end
fn run$() -> i64 {
    thread::spawn(|| write$()).join().unwrap();
    read$()
}

//: is_finished | own | JoinHandle::is_finished in a loop | the thread's end
fn run$() -> i64 {
    let thread = thread::spawn(|| write$());
    while !thread.is_finished() {
        thread::yield_now();
    }
    thread.join().unwrap();
    read$()
}

//: scope | own | thread::scope | the threads' end
fn run$() -> i64 {
    let mut values = [0, 0];
    thread::scope(|scope| {
        scope.spawn(|| write$());
        for value in &mut values {
            scope.spawn(move || *value += 1);
        }
    });
    if values == [1, 1] { read$() } else { -1 }
}

//: once | own | Once::call_once | whoever initialises
static ONCE$: Once = Once::new();
fn run$() -> i64 {
    let thread = thread::spawn(|| ONCE$.call_once(|| write$()));
    ONCE$.call_once(|| write$());
    let value = read$();
    thread.join().unwrap();
    value
}

//: lazy | own | LazyLock | whoever initialises
static LAZY$: LazyLock<i64> = LazyLock::new(|| {
    write$();
    read$()
});
fn run$() -> i64 {
    let thread = thread::spawn(|| *LAZY$);
    let value = *LAZY$;
    if thread.join().unwrap() == value { value } else { -1 }
}

//: last_owner | own | Arc's last owner | any thread
struct Last$;
impl Drop for Last$ {
    fn drop(&mut self) {
        write$();
    }
}
fn run$() -> i64 {
    let first = Arc::new(Last$);
    let second = first.clone();
    let thread = thread::spawn(move || drop(second));
    drop(first);
    thread.join().unwrap();
    read$()
}

//: get_mut | own | Arc::get_mut in a loop | the other owner
fn run$() -> i64 {
    let mut first = Arc::new(0);
    let second = first.clone();
    let thread = thread::spawn(move || {
        write$();
        drop(second);
    });
    while Arc::get_mut(&mut first).is_none() {
        thread::yield_now();
    }
    let value = read$();
    thread.join().unwrap();
    value
}

//: thread_local | own | a thread local's destructor | the thread's end
struct Local$;
impl Drop for Local$ {
    fn drop(&mut self) {
        write$();
    }
}
thread_local! { static LOCAL$: Local$ = const { Local$ }; }
fn run$() -> i64 {
    thread::spawn(|| LOCAL$.with(|_| ())).join().unwrap();
    read$()
}

//: hung_up | own | Receiver::recv of no sender | Disconnected
fn run$() -> i64 {
    let (sender, receiver) = channel::<i32>();
    let thread = thread::spawn(move || {
        write$();
        drop(sender);
    });
    let result = receiver.recv();
    // Hanging up is no promise of an order: the standard library reads it `Relaxed`.
    thread.join().unwrap();
    if result.is_err() { read$() } else { -1 }
}

//: poisoned | own | Mutex::lock, poisoned by resume_unwind | PoisonError
static LOCK$: Mutex<i32> = Mutex::new(0);
fn run$() -> i64 {
    let thread = thread::spawn(|| {
        let mut guard = LOCK$.lock().unwrap();
        *guard = 3;
        write$();
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(thread.join().is_err());
    let guard = LOCK$.lock().unwrap_err().into_inner();
    if *guard == 3 { read$() } else { -1 }
}

//: child | own | Command::output | the child's end
fn run$() -> i64 {
    write$();
    let output = std::process::Command::new("echo").arg("hi").output().unwrap();
    if output.stdout == b"hi\n" { read$() } else { -1 }
}

//: times_out | own | timed calls of all kinds | time
fn run$() -> i64 {
    let lock = Mutex::new(());
    let changed = Condvar::new();
    let (_sender, receiver) = channel::<i32>();
    let out = changed.wait_timeout(lock.lock().unwrap(), SOON).unwrap().1;
    thread::sleep(SOON);
    let (one, _other) = UnixStream::pair().unwrap();
    one.set_read_timeout(Some(SOON)).unwrap();
    let nothing = (&one).read(&mut [0]).is_err();
    good$(nothing && receiver.recv_timeout(SOON) == Err(RecvTimeoutError::Timeout))
}
