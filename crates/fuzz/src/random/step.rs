//! One step of one thread: which states may follow a state.

use super::clocks::{Clock, Seen};
use super::effects::{
    give, leave, observe, publish, release, take, take_semaphore, waiters, worth,
};
use super::flat::{Op, Step};
use super::interpret::{Rules, is_silent};
use super::program::{Act, Asking, LOCALS, MutexKind, Order, Program, Var};
use super::state::{Ending, NOBODY, State, Status, place};
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
                    t.pc = if t.locals[*local] == *equals {
                        t.pc + 1
                    } else {
                        *otherwise
                    };
                }
                Op::Do(Act::Check { local, equals }) if t.locals[*local] == *equals => t.pc += 1,
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
            after.threads[thread].locals[*local] = i16::from(late);
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
            Op::Do(act) => self.act(state, after, thread, id, act),
            Op::AddRead(Act::Add { var, .. }) => {
                let value = self.access(&mut after, thread, id, *var, None, false);
                after.threads[thread].locals[LOCALS] = value;
                one(after)
            }
            Op::AddWrite(Act::Add { var, by }) => {
                let value = after.threads[thread].locals[LOCALS].wrapping_add(*by);
                after.threads[thread].locals[LOCALS] = 0;
                self.access(&mut after, thread, id, *var, Some(value), false);
                one(after)
            }
            Op::AwaitRead {
                act: Act::Await { var, until, .. },
                out,
            } => {
                if self.access(&mut after, thread, id, *var, None, false) == *until {
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

    #[allow(clippy::too_many_lines)]
    fn act(
        &mut self,
        state: &State,
        mut after: State,
        thread: usize,
        id: u32,
        act: &Act,
    ) -> Vec<State> {
        match act {
            Act::Read { local, var } => {
                after.threads[thread].locals[*local] =
                    self.access(&mut after, thread, id, *var, None, false)
            }
            Act::Print { var } => {
                let atomic = matches!(var, Var::Atomic(_));
                let value = self.access(&mut after, thread, id, *var, None, atomic);
                if let Var::Atomic(n) = var {
                    observe(&mut after, thread, *n, Order::SeqCst);
                }
                after.printed.push(value);
            }
            Act::Write { var, value } => {
                let value = worth(&after, thread, *value);
                self.access(&mut after, thread, id, *var, Some(value), false);
                if let Var::Atomic(n) = var {
                    after.released[*n] = Clock::default();
                }
            }
            Act::Load {
                local,
                atomic,
                order,
            } => {
                after.threads[thread].locals[*local] =
                    self.access(&mut after, thread, id, Var::Atomic(*atomic), None, true);
                observe(&mut after, thread, *atomic, *order);
            }
            Act::Store {
                atomic,
                value,
                order,
            } => {
                let value = worth(&after, thread, *value);
                self.access(
                    &mut after,
                    thread,
                    id,
                    Var::Atomic(*atomic),
                    Some(value),
                    true,
                );
                publish(&mut after, thread, *atomic, *order, false);
            }
            Act::FetchAdd {
                local,
                atomic,
                by,
                order,
            } => {
                let old = after.memory[self.program.plain + atomic];
                self.access(
                    &mut after,
                    thread,
                    id,
                    Var::Atomic(*atomic),
                    Some(old.wrapping_add(*by)),
                    true,
                );
                observe(&mut after, thread, *atomic, *order);
                publish(&mut after, thread, *atomic, *order, true);
                after.threads[thread].locals[*local] = old;
            }
            Act::Exchange {
                local,
                atomic,
                value,
                order,
            } => {
                let old = after.memory[self.program.plain + atomic];
                let value = worth(&after, thread, *value);
                self.access(
                    &mut after,
                    thread,
                    id,
                    Var::Atomic(*atomic),
                    Some(value),
                    true,
                );
                observe(&mut after, thread, *atomic, *order);
                publish(&mut after, thread, *atomic, *order, true);
                after.threads[thread].locals[*local] = old;
            }
            Act::Cas {
                local,
                atomic,
                expected,
                desired,
                success,
                failure,
            } => {
                let done = after.memory[self.program.plain + atomic] == *expected;
                self.access(
                    &mut after,
                    thread,
                    id,
                    Var::Atomic(*atomic),
                    done.then_some(*desired),
                    true,
                );
                observe(
                    &mut after,
                    thread,
                    *atomic,
                    if done { *success } else { *failure },
                );
                if done {
                    publish(&mut after, thread, *atomic, *success, true);
                }
                after.threads[thread].locals[*local] = i16::from(done);
            }
            Act::Fence { order } => {
                if order.acquires() {
                    let pending = after.threads[thread].pending;
                    after.threads[thread].clock.join(&pending);
                }
                if order.releases() {
                    let known = release(&mut after, thread);
                    after.threads[thread].fence = known;
                }
            }
            Act::Lock { mutex } => {
                let lock = &state.mutexes[*mutex];
                let again = usize::from(lock.owner) == thread
                    && self.program.mutexes[*mutex] == MutexKind::Recursive;
                if lock.owner != NOBODY && !again {
                    return Vec::new();
                }
                take(&mut after, thread, *mutex);
            }
            Act::Unlock { mutex } => give(&mut after, thread, *mutex),
            Act::LockShared { rwlock } | Act::LockExclusive { rwlock } => {
                let exclusive = matches!(act, Act::LockExclusive { .. });
                if !self.take_rwlock(&mut after, thread, *rwlock, exclusive) {
                    return Vec::new();
                }
            }
            Act::UnlockShared { rwlock } => {
                let known = release(&mut after, thread);
                after.rwlocks[*rwlock].readers &= !(1 << thread);
                after.rwlocks[*rwlock].read.join(&known);
            }
            Act::UnlockExclusive { rwlock } => {
                let known = release(&mut after, thread);
                after.rwlocks[*rwlock].writer = NOBODY;
                after.rwlocks[*rwlock].written.join(&known);
            }
            Act::Acquire { semaphore } => {
                let had = take_semaphore(&mut after, thread, *semaphore);
                return if had { vec![after] } else { Vec::new() };
            }
            Act::Post { semaphore } => {
                let known = release(&mut after, thread);
                let semaphore = &mut after.semaphores[*semaphore];
                semaphore.0 = semaphore.0.saturating_add(1);
                semaphore.1.join(&known);
            }
            Act::Wait { condition, mutex }
            | Act::TimedWait {
                condition, mutex, ..
            } => {
                give(&mut after, thread, *mutex);
                let timed = matches!(act, Act::TimedWait { .. });
                after.threads[thread].pc -= 1;
                after.threads[thread].status =
                    Status::Waiting(u8::try_from(*condition).unwrap_or(NOBODY), timed);
            }
            Act::Signal { condition } => {
                let known = release(&mut after, thread);
                return self.signal(&after, *condition, &known);
            }
            Act::Broadcast { condition } => {
                let known = release(&mut after, thread);
                for waiter in waiters(&after, *condition) {
                    self.wake(&mut after, waiter, &known);
                }
            }
            Act::Barrier { barrier } => self.barrier(&mut after, thread, *barrier),
            Act::Check { .. } => after.ending = Some(Ending::Abort(id)),
            Act::Create { thread: child } => {
                let known = release(&mut after, thread);
                after.threads[*child].clock.join(&known);
                after.threads[*child].status = Status::Ready;
                self.settle(&mut after, *child);
            }
            Act::Join { thread: child } => {
                if state.threads[*child].status != Status::Done {
                    return Vec::new();
                }
                let known = after.threads[*child].clock;
                after.threads[thread].clock.join(&known);
            }
            Act::Exit { flush } => {
                after.ending = Some(if *flush { Ending::Exit } else { Ending::Quick })
            }
            Act::Leave => leave(&mut after, thread),
            _ => {}
        }
        vec![after]
    }

    /// An access of a variable; what it reads. Compares it with what others did.
    fn access(
        &mut self,
        state: &mut State,
        thread: usize,
        id: u32,
        var: Var,
        write: Option<i16>,
        atomic: bool,
    ) -> i16 {
        let place = place(self.program, var);
        let now = Seen {
            thread: u8::try_from(thread).unwrap_or(NOBODY),
            id,
            write: write.is_some(),
            atomic,
            epoch: state.threads[thread].clock.of(thread),
        };
        for earlier in &state.seen[place] {
            if earlier.conflicts_with(&now)
                && !state.threads[thread]
                    .clock
                    .knows(usize::from(earlier.thread), earlier.epoch)
            {
                self.races.insert((earlier.id.min(id), earlier.id.max(id)));
            }
        }
        let list = &mut state.seen[place];
        list.retain(|s| {
            (s.thread, s.id, s.write, s.atomic) != (now.thread, now.id, now.write, now.atomic)
        });
        list.push(now);
        list.sort_unstable();
        let old = state.memory[place];
        if let Some(value) = write {
            state.memory[place] = value;
        }
        old
    }

    fn take_rwlock(
        &self,
        state: &mut State,
        thread: usize,
        rwlock: usize,
        exclusive: bool,
    ) -> bool {
        let lock = &mut state.rwlocks[rwlock];
        if lock.writer != NOBODY || (exclusive && lock.readers != 0) {
            return false;
        }
        let mut known = lock.written;
        if exclusive || self.rules.readers_order {
            known.join(&lock.read);
        }
        if exclusive {
            lock.writer = u8::try_from(thread).unwrap_or(NOBODY);
        } else {
            lock.readers |= 1 << thread;
        }
        state.threads[thread].clock.join(&known);
        true
    }

    fn wake(&self, state: &mut State, waiter: usize, known: &Clock) {
        state.threads[waiter].status = Status::Relocking(false);
        if self.rules.signals_order {
            state.threads[waiter].clock.join(known);
        }
    }

    fn signal(&self, after: &State, condition: usize, known: &Clock) -> Vec<State> {
        let waiting = waiters(after, condition);
        if waiting.is_empty() {
            return vec![after.clone()];
        }
        let mut next = Vec::new();
        for chosen in 1_usize..(1 << waiting.len()) {
            if chosen.count_ones() > 1 && !self.rules.wakes_many {
                continue;
            }
            let mut woken = after.clone();
            for (bit, waiter) in waiting.iter().enumerate() {
                if chosen & (1 << bit) != 0 {
                    self.wake(&mut woken, *waiter, known);
                }
            }
            next.push(woken);
        }
        next
    }

    fn barrier(&self, after: &mut State, thread: usize, barrier: usize) {
        let known = release(after, thread);
        let (there, clock) = &mut after.barriers[barrier];
        *there |= 1 << thread;
        clock.join(&known);
        after.threads[thread].status = Status::AtBarrier;
        after.threads[thread].pc -= 1;
        if u8::try_from(there.count_ones()).unwrap_or(NOBODY) < self.program.barriers[barrier] {
            return;
        }
        let (all, known) = (*there, *clock);
        after.barriers[barrier] = (0, Clock::default());
        for member in 0..after.threads.len() {
            if all & (1 << member) != 0 {
                let t = &mut after.threads[member];
                t.clock.join(&known);
                t.status = Status::Ready;
                t.pc += 1;
                if member != thread {
                    self.settle(after, member);
                }
            }
        }
    }
}
