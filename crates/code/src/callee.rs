//! What a called function means to the analysis, by its name.
//!
//! Compilers' hooks, and functions of the C library that the runtime stands in for, are known;
//! their events are in the trace. Functions that are instrumented say so by the hook at their
//! entry. Everything else is opaque: it may read and branch as it likes, unseen.

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callee {
    /// The hook at an instrumented function's entry.
    Enter,
    /// The hook at its exit.
    Exit,
    /// Makes no event and decides nothing.
    Transparent,
    /// Answers where a thread's own variable lies; else like [`Callee::Transparent`].
    ThreadVariable,
    /// Announces a plain access to the memory that the first argument points to.
    Access {
        /// Whether it reads.
        reads: bool,
        /// Whether it writes.
        writes: bool,
        /// How many bytes.
        size: Size,
    },
    /// Does an atomic access to the memory that the first argument points to.
    Atomic {
        /// How.
        kind: Atomic,
        /// How many bytes.
        size: u8,
    },
    /// A function of the C library whose events are in the trace.
    Library(Library),
    /// An instrumented function: its entry is an event.
    Instrumented,
    /// Never returns.
    Never,
    /// Returns more than once: `setjmp` and its like.
    Again,
    /// Not known.
    Opaque,
}

/// How many bytes are accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// So many.
    Bytes(u32),
    /// As many as the second argument says.
    SecondArgument,
}

/// Kinds of atomic accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atomic {
    /// Answers what it read.
    Reads,
    /// A store.
    Writes,
    /// clang's compare-and-swap: the second argument is what is expected; answers what it read.
    ComparesValue,
    /// gcc's compare-and-swap: the second argument points to what is expected, and is written if
    /// that is not found; answers whether it was.
    Compares,
    /// A fence.
    Fence,
}

/// A function of the C library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Library {
    /// How many of its first arguments say what it is done to.
    pub arguments: usize,
    /// What its result depends on.
    pub result: Answer,
    /// What it does to memory that it is given.
    pub memory: Touch,
}

/// What the result of a function of the C library depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is the same whenever the function's event happens.
    Nothing,
    /// It is the first argument.
    FirstArgument,
    /// On its arguments only: the identity of a block of memory is that of its allocation.
    Arguments,
    /// On what it reads.
    Reads,
    /// Anything.
    Everything,
}

/// What a function of the C library does to memory that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    /// Leaves it, or reads it only.
    Leaves,
    /// Copies as many bytes as the third argument says from the second to the first.
    Copies,
    /// Sets as many bytes as the third argument says, from the first on, to the second.
    Fills,
    /// Anything.
    Anything,
}

/// What the function of this name does, if it is one of those that are known.
pub(crate) fn by_name(name: &str) -> Option<Callee> {
    // A symbol's version does not matter.
    let name = name.split('@').next().unwrap_or(name);
    if let Some(hook) = name.strip_prefix("__tsan_") {
        return Some(hook_by_name(hook).unwrap_or(Callee::Opaque));
    }
    if name.starts_with("__sanitizer_cov_trace_pc") {
        return Some(Callee::Transparent);
    }
    if name == "__tls_get_addr" {
        return Some(Callee::ThreadVariable);
    }
    if matches!(
        name,
        "setjmp" | "_setjmp" | "sigsetjmp" | "__sigsetjmp" | "vfork" | "getcontext" | "swapcontext"
    ) {
        return Some(Callee::Again);
    }
    if never_returns(name) {
        return Some(Callee::Never);
    }
    library(name).map(Callee::Library)
}

fn hook_by_name(hook: &str) -> Option<Callee> {
    match hook {
        "func_entry" => return Some(Callee::Enter),
        "func_exit" => return Some(Callee::Exit),
        "init" | "atomic_signal_fence" | "ignore_thread_begin" | "ignore_thread_end" => {
            return Some(Callee::Transparent);
        }
        "atomic_thread_fence" => {
            let kind = Atomic::Fence;
            return Some(Callee::Atomic { kind, size: 0 });
        }
        "vptr_read" => return access("read8"),
        // Of a pointer that stays as it is there is no event, as of a range of no bytes.
        "vptr_update" => return access("write_range"),
        "memcpy" | "memmove" | "memset" => return library(hook).map(Callee::Library),
        "acquire" | "release" | "mutex_create" | "mutex_destroy" | "mutex_post_lock" => {
            return Some(Callee::Library(done_to(1, Answer::Nothing)));
        }
        _ => {}
    }
    if let Some(rest) = hook.strip_prefix("atomic") {
        return atomic(rest);
    }
    let hook = hook.strip_prefix("unaligned_").unwrap_or(hook);
    access(hook.strip_prefix("volatile_").unwrap_or(hook))
}

/// `read4`, `write_range`, `read_write8`.
fn access(hook: &str) -> Option<Callee> {
    let (reads, rest) = match hook.strip_prefix("read") {
        Some(rest) => (true, rest),
        None => (false, hook),
    };
    let write = if reads { "_write" } else { "write" };
    let (writes, size) = match rest.strip_prefix(write) {
        Some(size) => (true, size),
        None if reads => (false, rest),
        None => return None,
    };
    let size = match size {
        "_range" => Size::SecondArgument,
        "1" | "2" | "4" | "8" | "16" => Size::Bytes(size.parse().ok()?),
        _ => return None,
    };
    Some(Callee::Access {
        reads,
        writes,
        size,
    })
}

/// `32_load`, `64_fetch_add`.
fn atomic(rest: &str) -> Option<Callee> {
    let (bits, kind) = rest.split_once('_')?;
    let bits: u8 = bits.parse().ok()?;
    let kind = match kind {
        "load" | "exchange" => Atomic::Reads,
        "compare_exchange_val" => Atomic::ComparesValue,
        "store" => Atomic::Writes,
        "compare_exchange_strong" | "compare_exchange_weak" => Atomic::Compares,
        _ if kind.starts_with("fetch_") => Atomic::Reads,
        _ => return None,
    };
    let size = bits / 8;
    Some(Callee::Atomic { kind, size })
}

const fn done_to(arguments: usize, result: Answer) -> Library {
    Library {
        arguments,
        result,
        memory: Touch::Leaves,
    }
}

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
fn library(name: &str) -> Option<Library> {
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
fn never_returns(name: &str) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_known_by_name() {
        let access = |reads, writes, bytes| {
            Some(Callee::Access {
                reads,
                writes,
                size: Size::Bytes(bytes),
            })
        };
        assert_eq!(by_name("__tsan_read4"), access(true, false, 4));
        let volatile = by_name("__tsan_unaligned_volatile_write16");
        assert_eq!(volatile, access(false, true, 16));
        assert_eq!(by_name("__tsan_read_write8"), access(true, true, 8));
        assert_eq!(by_name("__tsan_vptr_read"), access(true, false, 8));
        let range = Callee::Access {
            reads: false,
            writes: true,
            size: Size::SecondArgument,
        };
        assert_eq!(by_name("__tsan_write_range"), Some(range));
        let compare = Callee::Atomic {
            kind: Atomic::Compares,
            size: 16,
        };
        assert_eq!(
            by_name("__tsan_atomic128_compare_exchange_weak"),
            Some(compare)
        );
        assert_eq!(by_name("__tsan_func_entry"), Some(Callee::Enter));
        let guard = by_name("__sanitizer_cov_trace_pc_guard");
        assert_eq!(guard, Some(Callee::Transparent));
    }

    #[test]
    fn what_is_not_known_is_opaque() {
        for name in [
            "__tsan_read4_pc",
            "__tsan_read3",
            "__tsan_atomic32_what",
            "__tsan_",
        ] {
            assert_eq!(by_name(name), Some(Callee::Opaque), "{name}");
        }
        assert_eq!(by_name("qsort"), None);
        assert_eq!(by_name("pthread_mutex_lockx"), None);
    }

    #[test]
    fn panics_do_not_return() {
        for name in [
            "_ZN4core9panicking18panic_bounds_check17h0123456789abcdefE",
            "_RNvNtCs8Ki2_4core9panicking18panic_bounds_check",
            "_RINvNtCs8Ki2_4core9panicking13assert_failedjjE",
            "__assert_fail",
        ] {
            assert_eq!(by_name(name), Some(Callee::Never), "{name}");
        }
        let format = "_RNvXNtCs8Ki2_4core9panickingNtB2_10AssertKindNtNtB4_3fmt5Debug3fmt";
        assert_eq!(by_name(format), None);
    }

    #[test]
    fn a_version_does_not_matter() {
        assert_eq!(by_name("memcpy@GLIBC_2.14"), by_name("memcpy"));
        assert_ne!(by_name("memcpy"), None);
    }
}
