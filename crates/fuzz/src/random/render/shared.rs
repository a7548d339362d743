//! What C and C++ write alike: numbers, memory, descriptors, the choice among programs.

use super::local;
use crate::random::program::{ChannelKind, Order, Program, SemaphoreKind, Value, Var};

/// The name of an order in C and C++.
pub(super) fn order(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "memory_order_relaxed",
        Order::Acquire => "memory_order_acquire",
        Order::Release => "memory_order_release",
        Order::AcqRel => "memory_order_acq_rel",
        Order::SeqCst => "memory_order_seq_cst",
    }
}

pub(super) fn value(value: Value) -> String {
    match value {
        Value::Const(number) => number.to_string(),
        Value::Local(from, 0) => local(from),
        Value::Local(from, more) => format!("{} + {more}", local(from)),
    }
}

/// The type of so many bytes.
pub(super) fn number(width: u8) -> &'static str {
    match width {
        1 => "signed char",
        2 => "short",
        8 => "long",
        _ => "int",
    }
}

/// Where heap blocks are accessed: behind what an allocator keeps in free ones.
pub(super) const INSIDE: u8 = 64;
/// How large heap blocks are: nobody else asks for as much.
pub(super) const BLOCK: usize = 777;

/// A variable, in C and C++.
pub(super) fn var(n: usize, program: &Program, var: Var) -> String {
    match var {
        Var::Plain(i) => format!("v{n}_{i}"),
        Var::Atomic(i) => {
            let width = program.atomics.get(i).copied().unwrap_or(4);
            format!("*({} *)&a{n}_{i}", number(width))
        }
        Var::Part { area, at, width } => format!("u{n}_{area}.w{width}[{}]", at / width),
        Var::Block { block, at, width } => {
            format!("*({} *)(h{n}_{block} + {})", number(width), INSIDE + at)
        }
    }
}

/// Areas, heap blocks, descriptors: what C and C++ have in common.
pub(super) fn memory(n: usize, program: &Program) -> Vec<String> {
    let areas = (0..program.areas).map(|i| format!("static union area u{n}_{i};"));
    let blocks = (0..program.blocks).map(|i| format!("static char *h{n}_{i};"));
    let channels = (0..program.channels.len()).map(|i| format!("static int p{n}_{i}[2];"));
    let eventfds = eventfds(program).map(|(i, _)| format!("static int e{n}_{i};"));
    areas
        .chain(blocks)
        .chain(channels)
        .chain(eventfds)
        .collect()
}

/// The semaphores that are descriptors, with their first values.
fn eventfds(program: &Program) -> impl Iterator<Item = (usize, u8)> {
    let all = program.semaphores.iter().enumerate();
    all.filter(|(_, s)| s.0 == SemaphoreKind::Eventfd)
        .map(|(i, s)| (i, s.1))
}

/// What main does first about descriptors, in C and C++.
pub(super) fn descriptors(n: usize, program: &Program) -> Vec<String> {
    let channels = program
        .channels
        .iter()
        .enumerate()
        .map(|(i, kind)| match kind {
            ChannelKind::Pipe => format!("if (pipe(p{n}_{i}) != 0) abort();"),
            ChannelKind::Socket => {
                format!("if (socketpair(AF_UNIX, SOCK_STREAM, 0, p{n}_{i}) != 0) abort();")
            }
        });
    let eventfds =
        eventfds(program).map(|(i, first)| format!("e{n}_{i} = eventfd({first}, EFD_SEMAPHORE);"));
    channels.chain(eventfds).collect()
}

/// The types and functions that stand before all programs, in C and C++.
pub(super) const COMMON: [&str; 8] = [
    "union area { signed char w1[8]; short w2[4]; int w4[2]; long w8[1]; };",
    "static struct timespec *soon(clockid_t clock, struct timespec *at) {",
    "    clock_gettime(clock, at);",
    "    at->tv_nsec += 2000000;",
    "    at->tv_sec += at->tv_nsec / 1000000000;",
    "    at->tv_nsec %= 1000000000;",
    "    return at;",
    "}",
];

pub(super) fn is_eventfd(program: &Program, semaphore: usize) -> bool {
    let kind = program.semaphores.get(semaphore);
    kind.is_some_and(|s| s.0 == SemaphoreKind::Eventfd)
}

/// The function of the file that chooses a program, in C and C++.
pub(super) fn choose(many: usize) -> Vec<String> {
    let mut out = vec![
        String::new(),
        "int main(int argc, char **argv) {".to_owned(),
        "    switch (argc > 1 ? atoi(argv[1]) : 0) {".to_owned(),
    ];
    for n in 0..many {
        out.push(format!("    case {n}: return main{n}();"));
    }
    out.extend(["    default: return 2;", "    }", "}"].map(str::to_owned));
    out
}
