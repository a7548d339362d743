//! Rust: the standard library's threads, locks and conditions; plain data in cells that are shared without
//! asking.

use super::Writer;
use crate::random::program::{Act, LOCALS, Order, Program, Value, Var};

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

fn var(n: usize, var: Var) -> String {
    match var {
        Var::Plain(i) => format!("*V{n}_{i}.0.get()"),
        Var::Atomic(i) => format!("*A{n}_{i}.as_ptr()"),
    }
}

impl Writer for Rust {
    fn prelude(&self) -> Vec<String> {
        [
            "#![allow(warnings)]",
            "use std::cell::UnsafeCell;",
            "use std::sync::atomic::{AtomicI32, Ordering, fence};",
            "use std::sync::{Barrier, Condvar, Mutex, MutexGuard, Once, RwLock, RwLockReadGuard, RwLockWriteGuard};",
            "unsafe extern \"C\" { fn abort() -> !; }",
            "struct Plain(UnsafeCell<i32>);",
            "unsafe impl Sync for Plain {}",
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
        for i in 0..program.atomics {
            out.push(format!("static A{n}_{i}: AtomicI32 = AtomicI32::new(0);"));
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

    fn leaf(&self, n: usize, _: &Program, act: &Act) -> String {
        match act {
            Act::Read { local: l, var: v } => format!("l{l} = unsafe {{ {} }};", var(n, *v)),
            Act::Write { var: v, value: x } => {
                format!("unsafe {{ {} = {} }};", var(n, *v), value(*x))
            }
            Act::Add { var: v, by } => format!("unsafe {{ {} += {by} }};", var(n, *v)),
            Act::Load {
                local: l,
                atomic,
                order: o,
            } => format!("l{l} = A{n}_{atomic}.load({});", order(*o)),
            Act::Store {
                atomic,
                value: x,
                order: o,
            } => format!("A{n}_{atomic}.store({}, {});", value(*x), order(*o)),
            Act::FetchAdd {
                local: l,
                atomic,
                by,
                order: o,
            } => format!("l{l} = A{n}_{atomic}.fetch_add({by}, {});", order(*o)),
            Act::Exchange {
                local: l,
                atomic,
                value: x,
                order: o,
            } => format!("l{l} = A{n}_{atomic}.swap({}, {});", value(*x), order(*o)),
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
            Act::Print { var: v } => format!("println!(\"{{}}\", unsafe {{ {} }});", var(n, *v)),
            Act::Yield => "std::thread::yield_now();".to_owned(),
            Act::Exit { .. } => "std::process::exit(0);".to_owned(),
            _ => String::new(),
        }
    }

    fn open(&self, n: usize, _: &Program, act: &Act) -> String {
        match act {
            Act::Await { var: v, until, .. } => {
                format!("while unsafe {{ {} }} != {until} {{", var(n, *v))
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
