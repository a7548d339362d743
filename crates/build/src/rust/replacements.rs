//! Which functions of Rust's standard library are replaced, and by what.

/// A function of the library, and what stands in for it: its parameters and result as the
/// library has them, and the call.
pub struct Replacement {
    /// Its path in the library.
    pub path: &'static str,
    /// `(parameters) -> result { call }`.
    pub code: &'static str,
    /// Not every version has it.
    pub optional: bool,
}

const fn required(path: &'static str, code: &'static str) -> Replacement {
    Replacement {
        path,
        code,
        optional: false,
    }
}

const fn optional(path: &'static str, code: &'static str) -> Replacement {
    Replacement {
        path,
        code,
        optional: true,
    }
}

/// All of them.
pub const REPLACEMENTS: [Replacement; 20] = [
    required(
        "std::sys::sync::mutex::futex::Mutex::lock_contended",
        "(word: &AtomicU32) { mutex::lock_contended(word) }",
    ),
    required(
        "std::sys::sync::rwlock::futex::RwLock::read_contended",
        "(lock: &rwlock::RwLock) { rwlock::read_contended(lock) }",
    ),
    required(
        "std::sys::sync::rwlock::futex::RwLock::write_contended",
        "(lock: &rwlock::RwLock) { rwlock::write_contended(lock) }",
    ),
    required(
        "std::sys::sync::rwlock::futex::RwLock::wake_writer_or_readers",
        "(lock: &rwlock::RwLock, now: u32) { rwlock::wake_writer_or_readers(lock, now) }",
    ),
    required(
        "std::sys::sync::condvar::futex::Condvar::wait",
        "(count: &AtomicU32, lock: &AtomicU32) { condvar::wait(count, lock) }",
    ),
    required(
        "std::sys::sync::condvar::futex::Condvar::wait_timeout",
        "(count: &AtomicU32, lock: &AtomicU32, limit: Duration) -> bool \
         { condvar::wait_timeout(count, lock, limit) }",
    ),
    required(
        "std::sync::poison::condvar::Condvar::notify_one",
        "(count: &AtomicU32) { condvar::notify_one(count) }",
    ),
    required(
        "std::sync::poison::condvar::Condvar::notify_all",
        "(count: &AtomicU32) { condvar::notify_all(count) }",
    ),
    optional(
        "std::sync::nonpoison::condvar::Condvar::notify_one",
        "(count: &AtomicU32) { condvar::notify_one(count) }",
    ),
    optional(
        "std::sync::nonpoison::condvar::Condvar::notify_all",
        "(count: &AtomicU32) { condvar::notify_all(count) }",
    ),
    required(
        "std::sys::sync::once::futex::Once::call",
        "(word: &AtomicU32, even: bool, function: &mut dyn FnMut(&mut once::State)) \
         { once::call(word, even, function) }",
    ),
    optional(
        "std::sync::once::Once::wait",
        "(word: &AtomicU32) { once::wait(word, false) }",
    ),
    optional(
        "std::sync::once::Once::wait_force",
        "(word: &AtomicU32) { once::wait(word, true) }",
    ),
    required(
        "std::sync::barrier::Barrier::wait",
        "(barrier: &u8) -> bool { barrier::wait(barrier, real) }",
    ),
    required(
        "std::thread::scoped::ScopeData::increment_num_running_threads",
        "(scope: &u8) { scope::increment_num_running_threads(scope) }",
    ),
    required(
        "std::thread::scoped::ScopeData::decrement_num_running_threads",
        "(scope: &u8, panicked: bool) { scope::decrement_num_running_threads(scope, panicked) }",
    ),
    required(
        "std::thread::thread::Thread::park",
        "(thread: &Thread) { park::park(thread) }",
    ),
    optional(
        "std::thread::thread::Thread::park_timeout",
        "(thread: &Thread, limit: Duration) { park::park_timeout(thread, limit) }",
    ),
    required("std::thread::functions::park", "() { park::park_me() }"),
    required(
        "std::thread::functions::park_timeout",
        "(limit: Duration) { park::park_me_timeout(limit) }",
    ),
];

/// What a thread that returns nothing does at its end, when nobody waits to join it: it leaves its scope. The path is written as [`Rlib::functions`] does.
///
/// [`Rlib::functions`]: super::rlib::Rlib::functions
pub const ENDED: &str = "alloc::sync::Arcstd::thread::lifecycle::Packet()::drop_slow";
