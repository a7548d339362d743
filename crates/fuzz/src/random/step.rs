//! One step of one thread: which states may follow a state.

use super::effects::{leave, release, take, take_semaphore};
use super::flat::{Op, Step};
use super::interpret::{Rules, is_silent};
use super::memory::place;
use super::program::{Act, Asking, MutexKind, Program, Var};
use super::state::{Ending, NOBODY, State, Status};
use std::collections::BTreeSet;

/// A program that is executed, and the races that were seen.
pub struct Machine<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its threads' code.
    pub code: &'a [Vec<Step>],
    /// What is left open.
    pub rules: Rules,
    /// Pairs of statements.
    pub races: BTreeSet<(u32, u32)>,
    /// Statements that access a heap block after it was freed.
    pub dangling: BTreeSet<u32>,
    /// Whether one of them writes there.
    pub corrupts: bool,
}

/// The step at a place of a thread's code.
#[must_use]
pub fn at(code: &[Vec<Step>], thread: usize, pc: usize) -> Option<&Step> {
    code.get(thread)?.get(pc)
}

impl<'a> Machine<'a> {
    /// Passes jumps and checks that hold.
    pub fn settle(&self, state: &mut State, thread: usize) {
        let Some(t) = state.threads.get_mut(thread) else {
            return;
        };
        while let Some(step) = at(self.code, thread, t.pc) {
            match &step.op {
                Op::Jump(to) => t.pc = *to,
                Op::Branch {
                    local,
                    equals,
                    otherwise,
                } if is_silent(step) => {
                    t.pc = if t.locals[*local] == i32::from(*equals) {
                        t.pc + 1
                    } else {
                        *otherwise
                    };
                }
                Op::Do(Act::Check { local, equals }) if t.locals[*local] == i32::from(*equals) => {
                    t.pc += 1
                }
                _ => break,
            }
        }
    }

    /// The states after the next step of a thread; none if it cannot go on.
    pub fn successors(&mut self, state: &State, thread: usize) -> Vec<State> {
        let Some(t) = state.threads.get(thread) else {
            return Vec::new();
        };
        let code: &'a [Vec<Step>] = self.code;
        let Some(step) = at(code, thread, t.pc) else {
            return Vec::new();
        };
        match t.status {
            Status::Unborn | Status::Done | Status::AtBarrier => Vec::new(),
            Status::Waiting(_, timed) => {
                if !timed {
                    return Vec::new();
                }
                let mut after = state.clone();
                after.threads[thread].status = Status::Relocking(true);
                vec![after]
            }
            Status::Relocking(late) => self.relock(state, thread, step, late).into_iter().collect(),
            Status::Ready => {
                let mut next = self.execute(state, thread, step);
                for after in &mut next {
                    self.settle(after, thread);
                }
                next
            }
        }
    }

    fn relock(&mut self, state: &State, thread: usize, step: &Step, late: bool) -> Option<State> {
        let (Op::Do(Act::Wait { mutex, .. }) | Op::Do(Act::TimedWait { mutex, .. })) = &step.op
        else {
            return None;
        };
        if state.mutexes[*mutex].owner != NOBODY {
            return None;
        }
        let mut after = state.clone();
        take(&mut after, thread, *mutex);
        if let Op::Do(Act::TimedWait { local, .. }) = &step.op {
            after.threads[thread].locals[*local] = i32::from(late);
        }
        after.threads[thread].status = Status::Ready;
        after.threads[thread].pc += 1;
        self.settle(&mut after, thread);
        Some(after)
    }

    fn execute(&mut self, state: &State, thread: usize, step: &Step) -> Vec<State> {
        let mut after = state.clone();
        let id = step.id;
        after.threads[thread].pc += 1;
        let one = |after: State| vec![after];
        match &step.op {
            Op::Do(act) => self.act(state, after, (thread, id), act),
            Op::AddRead(Act::Add { var, .. }) => {
                let place = place(self.program, *var);
                let value = self.access(&mut after, (thread, id), place, None, false);
                after.threads[thread].register = value;
                one(after)
            }
            Op::AddWrite(Act::Add { var, by }) => {
                let place = place(self.program, *var);
                let old = std::mem::take(&mut after.threads[thread].register);
                let value = old.wrapping_add_signed(i64::from(*by));
                self.access(&mut after, (thread, id), place, Some(value), false);
                one(after)
            }
            Op::CopyRead(Act::Copy { from, bytes, .. }) => {
                let place = self.area(*from).first(*bytes);
                let value = self.access(&mut after, (thread, id), place, None, false);
                after.threads[thread].register = value;
                one(after)
            }
            Op::CopyWrite(Act::Copy { to, bytes, .. }) => {
                let place = self.area(*to).first(*bytes);
                let value = std::mem::take(&mut after.threads[thread].register);
                self.access(&mut after, (thread, id), place, Some(value), false);
                one(after)
            }
            Op::AwaitRead {
                act: Act::Await { var, until, .. },
                out,
            } => {
                let place = place(self.program, *var);
                let raw = self.access(&mut after, (thread, id), place, None, false);
                if place.number(raw) == i32::from(*until) {
                    after.threads[thread].pc = *out;
                }
                one(after)
            }
            Op::AskLock {
                mutex,
                asking,
                otherwise,
            } => {
                let lock = &state.mutexes[*mutex];
                let mine = usize::from(lock.owner) == thread;
                if lock.owner == NOBODY
                    || (mine && self.program.mutexes[*mutex] == MutexKind::Recursive)
                {
                    take(&mut after, thread, *mutex);
                } else if *asking == Asking::Checked && !mine {
                    return Vec::new();
                } else {
                    after.threads[thread].pc = *otherwise;
                }
                one(after)
            }
            Op::AskRwlock {
                rwlock,
                exclusive,
                otherwise,
            } => {
                if !self.take_rwlock(&mut after, thread, *rwlock, *exclusive) {
                    after.threads[thread].pc = *otherwise;
                }
                one(after)
            }
            Op::AskSemaphore {
                semaphore,
                otherwise,
                ..
            } => {
                if !take_semaphore(&mut after, thread, *semaphore) {
                    after.threads[thread].pc = *otherwise;
                }
                one(after)
            }
            Op::OnceBegin { once, past } => match state.onces[*once].0 {
                0 => {
                    after.onces[*once].0 = 1;
                    one(after)
                }
                1 => Vec::new(),
                _ => {
                    let known = after.onces[*once].1;
                    after.threads[thread].clock.join(&known);
                    after.threads[thread].pc = *past;
                    one(after)
                }
            },
            Op::OnceEnd { once } => {
                after.onces[*once] = (2, release(&mut after, thread));
                one(after)
            }
            Op::End => {
                if thread == 0 {
                    after.ending = Some(Ending::Exit);
                } else {
                    leave(&mut after, thread);
                }
                one(after)
            }
            _ => Vec::new(),
        }
    }

    /// All of an area.
    pub(super) fn area(&self, area: usize) -> super::memory::Place {
        let (at, width) = (0, 8);
        place(self.program, Var::Part { area, at, width })
    }
}
