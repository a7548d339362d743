// Locks: guards that live on, that are dropped, and cells without any.
use std::cell::UnsafeCell;
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

struct Bare(UnsafeCell<u32>);

// SAFETY: for some of them the promise is kept by a lock.
unsafe impl Sync for Bare {}

static LOCK: Mutex<u32> = Mutex::new(0);
static OTHER: Mutex<u32> = Mutex::new(0);
static TABLE: RwLock<u32> = RwLock::new(0);
static GUARDED: Bare = Bare(UnsafeCell::new(0));
static EARLY: Bare = Bare(UnsafeCell::new(0));
static WRONG: Bare = Bare(UnsafeCell::new(0));
static TRIED: Bare = Bare(UnsafeCell::new(0));
static READ: Bare = Bare(UnsafeCell::new(0));
static WRITTEN: Bare = Bare(UnsafeCell::new(0));
static SCOPED: Bare = Bare(UnsafeCell::new(0));
static mut PLAIN: u32 = 0;

fn add(cell: &Bare) {
    unsafe { *cell.0.get() += 1 };
}

fn work(is_first: bool) {
    *LOCK.lock().unwrap() += 1; // NORACE
    {
        let _guard = LOCK.lock().unwrap();
        unsafe { *GUARDED.0.get() += 1 }; // NORACE
    }
    let guard = LOCK.lock().unwrap();
    unsafe { *GUARDED.0.get() += 1 }; // NORACE
    drop(guard);
    unsafe { *EARLY.0.get() += 1 }; // RACE!
    LOCK.lock().unwrap();
    unsafe { PLAIN += 1 }; // RACE!
    if is_first {
        let _guard = LOCK.lock().unwrap();
        unsafe { *WRONG.0.get() += 1 }; // RACE!
    } else {
        let _guard = OTHER.lock().unwrap();
        unsafe { *WRONG.0.get() += 1 }; // RACE!
    }
    if let Ok(_guard) = LOCK.try_lock() {
        unsafe { *TRIED.0.get() += 1 }; // NORACE
    }
    {
        let table = TABLE.read().unwrap();
        unsafe { *READ.0.get() += *table }; // RACE!
    }
    {
        let mut table = TABLE.write().unwrap();
        *table += 1; // NORACE
        unsafe { *WRITTEN.0.get() += *table }; // NORACE
    }
    let table = TABLE.read().unwrap();
    unsafe { *WRITTEN.0.get() + *table }; // NORACE
}

struct Account {
    balance: Mutex<i64>,
    operations: UnsafeCell<u32>,
    checked: UnsafeCell<u32>,
}

// SAFETY: the promise about operations is broken.
unsafe impl Sync for Account {}

impl Account {
    fn deposit(&self, amount: i64) {
        let mut balance = self.balance.lock().unwrap();
        *balance += amount; // NORACE
        unsafe { *self.checked.get() += 1 }; // NORACE
        drop(balance);
        unsafe { *self.operations.get() += 1 }; // RACE!
    }
}

fn main() {
    let first = thread::spawn(|| work(true));
    let second = thread::spawn(|| work(false));
    first.join().unwrap();
    second.join().unwrap();
    unsafe { *EARLY.0.get() += 1 }; // NORACE
    let account = Arc::new(Account {
        balance: Mutex::new(0),
        operations: UnsafeCell::new(0),
        checked: UnsafeCell::new(0),
    });
    let same = Arc::clone(&account);
    let third = thread::spawn(move || same.deposit(1));
    account.deposit(2);
    third.join().unwrap();
    add(&SCOPED);
}
