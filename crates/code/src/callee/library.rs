//! Functions of the C library that are known by name.

use super::{Answer, Library, Touch};

/// A function that leaves memory as it is.
pub(super) const fn done_to(arguments: usize, result: Answer) -> Library {
    Library {
        arguments,
        result,
        memory: Touch::Leaves,
    }
}

/// A function that may write to what it is given.
const fn anything(arguments: usize, result: Answer) -> Library {
    Library {
        arguments,
        result,
        memory: Touch::Anything,
    }
}

/// Functions of the C library that make events of their own at their call. A lock that was
/// taken or given back, a thread that was created or joined answers zero: where the event can
/// happen, so does the answer. Those that can also fail to happen answer anything.
pub(super) fn library(name: &str) -> Option<Library> {
    let copies = Library {
        arguments: 3,
        result: Answer::FirstArgument,
        memory: Touch::Copies,
    };
    Some(match name {
        "memcpy" | "memmove" => copies,
        "mempcpy" => Library {
            result: Answer::Arguments,
            ..copies
        },
        "memset" => Library {
            memory: Touch::Fills,
            ..copies
        },
        "memcmp" | "bcmp" | "strncmp" => done_to(3, Answer::Reads),
        "strlen" => done_to(1, Answer::Reads),
        "strcmp" => done_to(2, Answer::Reads),
        "strcpy" | "strcat" => anything(2, Answer::FirstArgument),
        "strncpy" => anything(3, Answer::FirstArgument),
        "malloc" | "valloc" | "pvalloc" => done_to(1, Answer::Arguments),
        "calloc" | "memalign" | "aligned_alloc" => done_to(2, Answer::Arguments),
        "free" | "cfree" => done_to(1, Answer::Nothing),
        "realloc" => anything(2, Answer::Everything),
        "pthread_mutex_lock"
        | "pthread_mutex_unlock"
        | "pthread_rwlock_rdlock"
        | "pthread_rwlock_wrlock"
        | "pthread_rwlock_unlock"
        | "pthread_spin_lock"
        | "pthread_spin_unlock"
        | "pthread_cond_signal"
        | "pthread_cond_broadcast"
        | "mtx_lock"
        | "mtx_unlock"
        | "cnd_signal"
        | "cnd_broadcast"
        | "sem_post" => anything(1, Answer::Nothing),
        "pthread_create" => anything(4, Answer::Nothing),
        "pthread_join" => anything(2, Answer::Nothing),
        "thrd_create" => anything(3, Answer::Everything),
        "thrd_join" | "pthread_once" | "call_once" => anything(2, Answer::Everything),
        "pthread_cond_wait" | "cnd_wait" => anything(2, Answer::Everything),
        "pthread_cond_timedwait" | "pthread_cond_clockwait" | "cnd_timedwait" => {
            anything(2, Answer::Everything)
        }
        "pthread_mutex_trylock"
        | "pthread_mutex_timedlock"
        | "pthread_mutex_clocklock"
        | "pthread_rwlock_tryrdlock"
        | "pthread_rwlock_timedrdlock"
        | "pthread_rwlock_clockrdlock"
        | "pthread_rwlock_trywrlock"
        | "pthread_rwlock_timedwrlock"
        | "pthread_rwlock_clockwrlock"
        | "pthread_spin_trylock"
        | "mtx_trylock"
        | "mtx_timedlock"
        | "sem_wait"
        | "sem_trywait"
        | "sem_timedwait"
        | "sem_clockwait"
        | "pthread_barrier_wait" => anything(1, Answer::Everything),
        "pthread_mutex_init"
        | "pthread_mutex_destroy"
        | "pthread_rwlock_init"
        | "pthread_rwlock_destroy"
        | "pthread_spin_init"
        | "pthread_spin_destroy"
        | "pthread_cond_init"
        | "pthread_cond_destroy"
        | "pthread_barrier_init"
        | "pthread_barrier_destroy"
        | "sem_init"
        | "sem_destroy"
        | "mtx_destroy"
        | "cnd_destroy" => anything(3, Answer::Everything),
        "__cxa_guard_acquire" | "__cxa_guard_release" => anything(1, Answer::Everything),
        "__atomic_load" | "__atomic_store" | "__atomic_exchange" | "__atomic_compare_exchange" => {
            anything(4, Answer::Everything)
        }
        "syscall" => anything(4, Answer::Everything),
        _ => return None,
    })
}

/// Functions that end the program, the thread, or the function that calls them.
pub(super) fn never_returns(name: &str) -> bool {
    const NAMES: [&str; 17] = [
        "abort",
        "exit",
        "_exit",
        "_Exit",
        "quick_exit",
        "pthread_exit",
        "thrd_exit",
        "longjmp",
        "_longjmp",
        "siglongjmp",
        "__longjmp_chk",
        "__assert_fail",
        "__stack_chk_fail",
        "__cxa_throw",
        "__cxa_rethrow",
        "_Unwind_Resume",
        "_ZSt9terminatev",
    ];
    const PREFIXES: [&str; 5] = [
        "_ZSt17__throw_",
        "_ZSt20__throw_",
        "_ZSt24__throw_",
        "_ZN4core9panicking",
        "_ZN5alloc5alloc18handle_alloc_error",
    ];
    NAMES.contains(&name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || is_panic(name).is_some()
}

/// Whether it is a function of `core::panicking`, by Rust's newer mangling:
/// `_RNvNtCs8Ki_4core9panicking5panic`.
fn is_panic(name: &str) -> Option<()> {
    let path = name.strip_prefix("_RNvNtC");
    let path = path.or_else(|| name.strip_prefix("_RINvNtC"))?;
    let path = match path.strip_prefix('s') {
        Some(hashed) => hashed.split_once('_')?.1,
        None => path,
    };
    path.starts_with("4core9panicking").then_some(())
}
