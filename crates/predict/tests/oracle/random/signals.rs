//! Runs of small programs that wait for each other at a condition, with the usual loop around the wait.
//!
//! A thread is a row of small pieces of code; the choices say who goes on. A thread that finds what it waits for never waits.

use deadheat_trace::{Addr, Event, Op, Pc, Step, ThreadId};

/// A piece of code.
#[derive(Clone, Copy, Debug)]
pub enum Code {
    /// Sets the flag under its lock and notifies one waiter there, or all.
    Set { all: bool },
    /// Sets the flag under its lock, and notifies afterwards.
    SetThenNotify,
    /// Waits, under the lock, until the flag is set.
    Await,
    /// Writes or reads a variable without a lock.
    Access { variable: u64, writes: bool },
    /// Writes a variable under another lock.
    Section { variable: u64 },
}

/// All kinds of code.
pub const KINDS: [Code; 8] = [
    Code::Access {
        variable: 0,
        writes: true,
    },
    Code::Set { all: false },
    Code::Await,
    Code::Access {
        variable: 0,
        writes: false,
    },
    Code::SetThenNotify,
    Code::Section { variable: 1 },
    Code::Access {
        variable: 1,
        writes: true,
    },
    Code::Set { all: true },
];

const FLAG: u64 = 0x2000;
const VARIABLES: u64 = 0x1000;
/// The numbers of the flag's lock, the other lock, and the condition.
const LOCK: u64 = 0;
const OTHER: u64 = 1;
const CONDITION: u64 = 2;

struct Thread {
    /// What it does, the next last.
    todo: Vec<(Op, u64)>,
    waits: bool,
}

/// The steps of a code, in order.
fn steps_of(code: Code) -> Vec<(Op, u64)> {
    let variable = |number: u64| VARIABLES + 16 * number;
    match code {
        Code::Set { all } => {
            let notify = if all { Op::NotifyAll } else { Op::Notify };
            let inside = [(Op::Write, FLAG), (notify, CONDITION)];
            vec![
                (Op::Acquire, LOCK),
                inside[0],
                inside[1],
                (Op::Release, LOCK),
            ]
        }
        Code::SetThenNotify => {
            let section = [(Op::Acquire, LOCK), (Op::Write, FLAG), (Op::Release, LOCK)];
            vec![section[0], section[1], section[2], (Op::Notify, CONDITION)]
        }
        // What follows the read depends on it.
        Code::Await => vec![(Op::Acquire, LOCK), (Op::Read, FLAG), (Op::Release, LOCK)],
        Code::Access {
            variable: number,
            writes,
        } => {
            vec![(if writes { Op::Write } else { Op::Read }, variable(number))]
        }
        Code::Section { variable: number } => {
            let section = (Op::Write, variable(number));
            vec![(Op::Acquire, OTHER), section, (Op::Release, OTHER)]
        }
    }
}

/// What happens when threads of this code go on by these choices, for so many steps at most.
pub fn run(threads: &[Vec<Code>], choices: &[u8], most: usize) -> Vec<Step> {
    let mut threads: Vec<Thread> = threads
        .iter()
        .map(|code| Thread {
            todo: code.iter().flat_map(|code| steps_of(*code)).rev().collect(),
            waits: false,
        })
        .collect();
    let mut held: [Option<usize>; 2] = [None; 2];
    let mut flag = false;
    let mut steps: Vec<Step> = Vec::new();
    for choice in choices {
        let is_able = |number: &usize| {
            let thread: &Thread = &threads[*number];
            match thread.todo.last() {
                None => false,
                Some((Op::Acquire, lock)) => held[*lock as usize].is_none(),
                Some(_) => !thread.waits,
            }
        };
        let able: Vec<usize> = (0..threads.len()).filter(is_able).collect();
        if able.is_empty() || steps.len() >= most {
            break;
        }
        let number = able[usize::from(*choice) % able.len()];
        let Some((op, target)) = threads[number].todo.pop() else {
            break;
        };
        let (id, pc) = (ThreadId(number as u32), Pc(steps.len() as u32));
        steps.push(Step::new(match op.is_access() {
            true => Event::access(id, op, Addr(target), 8, pc),
            false => Event::new(id, op, target, pc),
        }));
        match op {
            Op::Acquire => held[target as usize] = Some(number),
            Op::Release => held[target as usize] = None,
            Op::Write if target == FLAG => flag = true,
            Op::Read if target == FLAG && !flag => {
                let again = [
                    (Op::Read, FLAG),
                    (Op::Acquire, LOCK),
                    (Op::Wake, CONDITION),
                    (Op::Wait, CONDITION),
                    (Op::Release, LOCK),
                ];
                threads[number].todo.extend(again);
            }
            Op::Wait => threads[number].waits = true,
            Op::Notify => {
                if let Some(first) = threads.iter_mut().find(|thread| thread.waits) {
                    first.waits = false;
                }
            }
            Op::NotifyAll => threads.iter_mut().for_each(|thread| thread.waits = false),
            _ => {}
        }
    }
    steps
}
