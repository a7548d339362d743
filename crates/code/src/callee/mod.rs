//! What a called function means to the analysis, by its name.
//!
//! Compilers' hooks, and functions of the C library that the runtime stands in for, are known;
//! their events are in the trace. Functions that are instrumented say so by the hook at their
//! entry. Everything else is opaque: it may read and branch as it likes, unseen.

mod library;

use library::{done_to, library, never_returns};

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

impl Callee {
    /// Whether it is an atomic access that does the same whatever it reads.
    pub fn is_steady_atomic(self) -> bool {
        matches!(
            self,
            Callee::Atomic {
                kind: Atomic::Reads | Atomic::Writes,
                ..
            }
        )
    }

    /// The same in a program with robust locks: taking one tells whether its last owner died.
    pub fn with_robust_locks(self) -> Callee {
        match self {
            Callee::Library(library) if library.result == Answer::Nothing => {
                Callee::Library(Library {
                    result: Answer::Everything,
                    ..library
                })
            }
            other => other,
        }
    }
}

/// Makes locks robust.
pub(crate) const MAKES_ROBUST: &str = "pthread_mutexattr_setrobust";

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
