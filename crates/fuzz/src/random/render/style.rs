//! Which functions of the C library a program in C uses: POSIX or C11, with which clock.

use crate::random::program::{MutexKind, Program, Style};

/// What a thread's function returns.
pub(super) fn result(program: &Program) -> &'static str {
    match program.style {
        Style::Posix => "void *",
        Style::C11 => "int",
    }
}

/// The declarations of a program's functions.
pub(super) fn functions(n: usize, program: &Program) -> Vec<String> {
    let mut out = Vec::new();
    for thread in 1..program.threads.len() {
        let result = result(program);
        out.push(format!("static {result} thread{n}_{thread}(void *unused);"));
    }
    out
}

pub(super) fn is_spin(program: &Program, mutex: usize) -> bool {
    program.mutexes.get(mutex) == Some(&MutexKind::Spin)
}

/// Whether C11's functions are used for a mutex.
pub(super) fn is_c11(program: &Program, mutex: usize) -> bool {
    let kind = program.mutexes.get(mutex);
    program.style == Style::C11 && !matches!(kind, Some(MutexKind::Checked | MutexKind::Spin))
}

/// The end of a call with a time limit, and how its name begins: half of them name their clock.
pub(super) fn limit(object: usize) -> (&'static str, &'static str) {
    if object.is_multiple_of(2) {
        ("timed", "soon(CLOCK_REALTIME, &(struct timespec){0})")
    } else {
        (
            "clock",
            "CLOCK_MONOTONIC, soon(CLOCK_MONOTONIC, &(struct timespec){0})",
        )
    }
}
