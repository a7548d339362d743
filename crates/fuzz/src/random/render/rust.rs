//! Rust: the standard library's threads, locks and conditions; plain data in cells that are shared without
//! asking.

use super::Writer;
use super::shared::{BLOCK, INSIDE};
use crate::random::program::{Act, ChannelKind, LOCALS, Order, Program, Value, Var};

pub(super) struct Rust;

fn order(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "Ordering::Relaxed",
        Order::Acquire => "Ordering::Acquire",
        Order::Release => "Ordering::Release",
        Order::AcqRel => "Ordering::AcqRel",
        Order::SeqCst => "Ordering::SeqCst",
    }
}

fn value(value: Value) -> String {
    match value {
        Value::Const(number) => number.to_string(),
        Value::Local(from, 0) => format!("l{from}"),
        Value::Local(from, more) => format!("l{from} + {more}"),
    }
}

/// The type of so many bytes.
fn number(width: u8) -> &'static str {
    match width {
        1 => "i8",
        2 => "i16",
        8 => "i64",
        _ => "i32",
    }
}

fn atomic_width(program: &Program, atomic: usize) -> u8 {
    program.atomics.get(atomic).copied().unwrap_or(4)
}

/// A variable's type.
fn type_of(program: &Program, var: Var) -> &'static str {
    number(match var {
        Var::Plain(_) => 4,
        Var::Atomic(i) => atomic_width(program, i),
        Var::Part { width, .. } | Var::Block { width, .. } => width,
    })
}

fn var(n: usize, var: Var) -> String {
    match var {
        Var::Plain(i) => format!("*V{n}_{i}.0.get()"),
        Var::Atomic(i) => format!("*A{n}_{i}.as_ptr()"),
        Var::Part { area, at, width } => {
            format!(
                "*U{n}_{area}.0.get().cast::<{}>().add({})",
                number(width),
                at / width
            )
        }
        Var::Block { block, at, width } => {
            format!(
                "*H{n}_{block}.add({}).cast::<{}>()",
                INSIDE + at,
                number(width)
            )
        }
    }
}

impl Writer for Rust {
    fn prelude(&self) -> Vec<String> {
        [
            "#![allow(warnings)]",
            "use std::cell::UnsafeCell;",
            "use std::sync::atomic::{AtomicI8, AtomicI16, AtomicI32, AtomicI64, Ordering, fence};",
            "use std::sync::{Barrier, Condvar, Mutex, MutexGuard, Once, RwLock, RwLockReadGuard, RwLockWriteGuard};",
            "unsafe extern \"C\" {",
            "    fn abort() -> !;",
            "    fn pipe(ends: *mut i32) -> i32;",
            "    fn socketpair(domain: i32, kind: i32, protocol: i32, ends: *mut i32) -> i32;",
            "    fn read(fd: i32, to: *mut u8, many: usize) -> isize;",
            "    fn write(fd: i32, from: *const u8, many: usize) -> isize;",
            "    fn close(fd: i32) -> i32;",
            "}",
            "struct Plain(UnsafeCell<i32>);",
            "unsafe impl Sync for Plain {}",
            "#[repr(align(8))]",
            "struct Area(UnsafeCell<[u8; 8]>);",
            "unsafe impl Sync for Area {}",
        ]
        .map(str::to_owned)
        .to_vec()
    }

    fn globals(&self, n: usize, program: &Program) -> Vec<String> {
        let mut out = Vec::new();
        for i in 0..program.plain {
            out.push(format!(
                "static V{n}_{i}: Plain = Plain(UnsafeCell::new(0));"
            ));
        }
        for (i, width) in program.atomics.iter().enumerate() {
            let atomic = format!("AtomicI{}", width * 8);
            out.push(format!("static A{n}_{i}: {atomic} = {atomic}::new(0);"));
        }
        for i in 0..program.areas {
            out.push(format!(
                "static U{n}_{i}: Area = Area(UnsafeCell::new([0; 8]));"
            ));
        }
        for i in 0..program.blocks {
            out.push(format!(
                "static mut H{n}_{i}: *mut u8 = std::ptr::null_mut();"
            ));
        }
        for i in 0..program.channels.len() {
            out.push(format!("static mut P{n}_{i}: [i32; 2] = [0; 2];"));
        }
        for i in 0..program.mutexes.len() {
            out.push(format!("static M{n}_{i}: Mutex<()> = Mutex::new(());"));
        }
        for i in 0..program.rwlocks {
            out.push(format!("static R{n}_{i}: RwLock<()> = RwLock::new(());"));
        }
        for i in 0..program.conditions {
            out.push(format!("static C{n}_{i}: Condvar = Condvar::new();"));
        }
        for (i, size) in program.barriers.iter().enumerate() {
            out.push(format!("static B{n}_{i}: Barrier = Barrier::new({size});"));
        }
        for i in 0..program.onces.len() {
            out.push(format!("static O{n}_{i}: Once = Once::new();"));
        }
        out
    }

    fn open_once(&self, n: usize, once: usize) -> String {
        format!("fn once{n}_{once}() {{")
    }

    fn open_thread(&self, n: usize, program: &Program, thread: usize) -> Vec<String> {
        let mut out = vec![if thread == 0 {
            format!("fn main{n}() {{")
        } else {
            format!("fn thread{n}_{thread}() {{")
        }];
        if thread == 0 {
            for i in 0..program.blocks {
                out.push(format!(
                    "unsafe {{ H{n}_{i} = Box::into_raw(Box::new([0_u8; {BLOCK}])).cast() }};"
                ));
            }
            for (i, kind) in program.channels.iter().enumerate() {
                let ends = format!("&raw mut P{n}_{i} as *mut i32");
                let call = match kind {
                    ChannelKind::Pipe => format!("pipe({ends})"),
                    ChannelKind::Socket => format!("socketpair(1, 1, 0, {ends})"),
                };
                out.push(format!("unsafe {{ if {call} != 0 {{ abort() }} }};"));
            }
        }
        for i in 0..LOCALS {
            out.push(format!("let mut l{i}: i32 = 0;"));
        }
        for i in 0..program.mutexes.len() {
            out.push(format!(
                "let mut g{i}: Option<MutexGuard<'static, ()>> = None;"
            ));
        }
        for i in 0..program.rwlocks {
            out.push(format!(
                "let mut r{i}: Option<RwLockReadGuard<'static, ()>> = None;"
            ));
            out.push(format!(
                "let mut w{i}: Option<RwLockWriteGuard<'static, ()>> = None;"
            ));
        }
        out
    }

    fn close_thread(&self, program: &Program, _: usize) -> Vec<String> {
        let mutexes = (0..program.mutexes.len()).map(|i| format!("std::mem::forget(g{i});"));
        let rwlocks = (0..program.rwlocks).map(|i| format!("std::mem::forget((r{i}, w{i}));"));
        mutexes.chain(rwlocks).collect()
    }

    fn leaf(&self, n: usize, program: &Program, act: &Act) -> String {
        match act {
            Act::Read { local: l, var: v } => format!("l{l} = unsafe {{ {} }} as i32;", var(n, *v)),
            Act::Touch { var: v } => format!("let _sink = unsafe {{ {} }};", var(n, *v)),
            Act::Write { var: v, value: x } => {
                let of = type_of(program, *v);
                format!("unsafe {{ {} = ({}) as {of} }};", var(n, *v), value(*x))
            }
            Act::Add { var: v, by } => format!("unsafe {{ {} += {by} }};", var(n, *v)),
            Act::Copy { from, to, bytes } => format!(
                "unsafe {{ std::ptr::copy_nonoverlapping(U{n}_{from}.0.get().cast::<u8>(), U{n}_{to}.0.get().cast::<u8>(), {bytes}) }};"
            ),
            Act::Fill { area, value, bytes } => format!(
                "unsafe {{ std::ptr::write_bytes(U{n}_{area}.0.get().cast::<u8>(), {value}, {bytes}) }};"
            ),
            Act::Free { block } => {
                format!("unsafe {{ drop(Box::from_raw(H{n}_{block}.cast::<[u8; {BLOCK}]>())) }};")
            }
            Act::Send { channel } => format!(
                "unsafe {{ if write(P{n}_{channel}[1], [0_u8].as_ptr(), 1) != 1 {{ abort() }} }};"
            ),
            Act::Receive { channel, local: l } => format!(
                "l{l} = unsafe {{ read(P{n}_{channel}[0], [0_u8].as_mut_ptr(), 1) }} as i32;"
            ),
            Act::Close { channel } => format!("unsafe {{ close(P{n}_{channel}[1]) }};"),
            Act::Load {
                local: l,
                atomic,
                order: o,
            } => format!("l{l} = A{n}_{atomic}.load({}) as i32;", order(*o)),
            Act::Store {
                atomic,
                value: x,
                order: o,
            } => format!(
                "A{n}_{atomic}.store(({}) as {}, {});",
                value(*x),
                number(atomic_width(program, *atomic)),
                order(*o)
            ),
            Act::Fetch {
                local: l,
                atomic,
                how,
                by,
                order: o,
            } => format!(
                "l{l} = A{n}_{atomic}.fetch_{}({by}, {}) as i32;",
                how.name(),
                order(*o)
            ),
            Act::Exchange {
                local: l,
                atomic,
                value: x,
                order: o,
            } => format!(
                "l{l} = A{n}_{atomic}.swap(({}) as {}, {}) as i32;",
                value(*x),
                number(atomic_width(program, *atomic)),
                order(*o)
            ),
            Act::Cas {
                local: l,
                atomic,
                expected,
                desired,
                success,
                failure,
            } => format!(
                "l{l} = A{n}_{atomic}.compare_exchange({expected}, {desired}, {}, {}).is_ok() as i32;",
                order(*success),
                order(*failure)
            ),
            Act::Fence { order: o } => format!("fence({});", order(*o)),
            Act::Lock { mutex } => format!("g{mutex} = Some(M{n}_{mutex}.lock().unwrap());"),
            Act::Unlock { mutex } => format!("drop(g{mutex}.take());"),
            Act::LockShared { rwlock } => {
                format!("r{rwlock} = Some(R{n}_{rwlock}.read().unwrap());")
            }
            Act::LockExclusive { rwlock } => {
                format!("w{rwlock} = Some(R{n}_{rwlock}.write().unwrap());")
            }
            Act::UnlockShared { rwlock } => format!("drop(r{rwlock}.take());"),
            Act::UnlockExclusive { rwlock } => format!("drop(w{rwlock}.take());"),
            Act::Wait { condition, mutex } => format!(
                "g{mutex} = Some(C{n}_{condition}.wait(g{mutex}.take().unwrap()).unwrap());"
            ),
            Act::TimedWait {
                condition,
                mutex,
                local: l,
            } => format!(
                "{{ let (g, late) = C{n}_{condition}.wait_timeout(g{mutex}.take().unwrap(), std::time::Duration::from_millis(2)).unwrap(); g{mutex} = Some(g); l{l} = late.timed_out() as i32; }}"
            ),
            Act::Signal { condition } => format!("C{n}_{condition}.notify_one();"),
            Act::Broadcast { condition } => format!("C{n}_{condition}.notify_all();"),
            Act::Barrier { barrier } => format!("B{n}_{barrier}.wait();"),
            Act::Once { once } => format!("O{n}_{once}.call_once(once{n}_{once});"),
            Act::Check { local: l, equals } => {
                format!("if l{l} != {equals} {{ unsafe {{ abort() }}; }}")
            }
            Act::Create { thread } => {
                format!("let t{thread} = std::thread::spawn(thread{n}_{thread});")
            }
            Act::Join { thread } => format!("t{thread}.join().unwrap();"),
            Act::Detach { thread } => format!("drop(t{thread});"),
            Act::Print {
                var: Var::Atomic(i),
            } => format!("println!(\"{{}}\", A{n}_{i}.load(Ordering::SeqCst));"),
            Act::Print { var: v } => {
                format!("println!(\"{{}}\", unsafe {{ {} }} as i32);", var(n, *v))
            }
            Act::Yield => "std::thread::yield_now();".to_owned(),
            Act::Sleep => "std::thread::sleep(std::time::Duration::from_micros(1));".to_owned(),
            Act::Exit { .. } => "std::process::exit(0);".to_owned(),
            _ => String::new(),
        }
    }

    fn open(&self, n: usize, _: &Program, act: &Act) -> String {
        match act {
            Act::Await { var: v, until, .. } => {
                format!("while unsafe {{ {} }} as i32 != {until} {{", var(n, *v))
            }
            Act::If {
                local: l, equals, ..
            } => format!("if l{l} == {equals} {{"),
            Act::Repeat { times, .. } => format!("for _ in 0..{times} {{"),
            Act::IfLock { mutex, .. } => {
                format!("g{mutex} = M{n}_{mutex}.try_lock().ok(); if g{mutex}.is_some() {{")
            }
            Act::IfRwlock {
                rwlock,
                exclusive: true,
                ..
            } => format!("w{rwlock} = R{n}_{rwlock}.try_write().ok(); if w{rwlock}.is_some() {{"),
            Act::IfRwlock { rwlock, .. } => {
                format!("r{rwlock} = R{n}_{rwlock}.try_read().ok(); if r{rwlock}.is_some() {{")
            }
            _ => "{".to_owned(),
        }
    }

    fn main(&self, many: usize) -> Vec<String> {
        let mut out = vec![
            String::new(),
            "fn main() {".to_owned(),
            "    match std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(0) {"
                .to_owned(),
        ];
        for n in 0..many {
            out.push(format!("        {n} => main{n}(),"));
        }
        out.extend(["        _ => std::process::exit(2),", "    }", "}"].map(str::to_owned));
        out
    }
}
