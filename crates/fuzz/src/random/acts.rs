//! One statement of one thread: what it does to a state.

use super::clocks::Clock;
use super::effects::{
    give, leave, observe, publish, release, take, take_semaphore, waiters, worth,
};
use super::memory::{contents, place};
use super::program::{Act, MutexKind, Order, Var};
use super::state::{Ending, NOBODY, State, Status};
use super::step::Machine;

impl Machine<'_> {
    /// The states after a statement of a thread; none if it has to wait.
    pub(super) fn act(
        &mut self,
        state: &State,
        mut after: State,
        who: (usize, u32),
        act: &Act,
    ) -> Vec<State> {
        let (thread, id) = who;
        match act {
            Act::Read { .. }
            | Act::Touch { .. }
            | Act::Print { .. }
            | Act::Write { .. }
            | Act::Fill { .. }
            | Act::Free { .. } => self.plain(&mut after, who, act),
            Act::Load { .. }
            | Act::Store { .. }
            | Act::Fetch { .. }
            | Act::Exchange { .. }
            | Act::Cas { .. } => self.atomic(&mut after, who, act),
            Act::Fence { order } => fence(&mut after, thread, *order),
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
            Act::Send { channel } => {
                let known = release(&mut after, thread);
                after.channels[*channel].bytes.push_back(known);
                after.channels[*channel].sent.join(&known);
            }
            Act::Receive { channel, local } => {
                let Some(there) = self.receive(&mut after, thread, *channel) else {
                    return Vec::new();
                };
                after.threads[thread].locals[*local] = i32::from(there);
            }
            Act::Close { channel } => {
                after.channels[*channel].closed = Some(release(&mut after, thread));
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

    /// Accesses that are not atomic, and prints.
    fn plain(&mut self, after: &mut State, who: (usize, u32), act: &Act) {
        let (thread, _) = who;
        match act {
            Act::Read { local, var } => {
                let place = place(self.program, *var);
                let raw = self.access(after, who, place, None, false);
                after.threads[thread].locals[*local] = place.number(raw);
            }
            Act::Touch { var } => {
                self.access(after, who, place(self.program, *var), None, false);
            }
            Act::Print { var } => {
                let place = place(self.program, *var);
                let atomic = matches!(var, Var::Atomic(_));
                if let Var::Atomic(n) = var {
                    observe(after, thread, *n, Order::SeqCst);
                }
                let raw = self.access(after, who, place, None, atomic);
                after.printed.push(place.number(raw));
            }
            Act::Write { var, value } => {
                let value = raw(worth(after, thread, *value));
                self.access(after, who, place(self.program, *var), Some(value), false);
                if let Var::Atomic(n) = var {
                    after.released[*n] = Clock::default();
                }
            }
            Act::Fill { area, value, bytes } => {
                let place = self.area(*area).first(*bytes);
                let value = u64::from_le_bytes([*value; 8]);
                self.access(after, who, place, Some(value), false);
            }
            Act::Free { block } => {
                let (block, at, width) = (*block, 0, 8);
                let place = place(self.program, Var::Block { block, at, width });
                self.access(after, who, place, Some(0), false);
                after.freed.insert(place.object);
            }
            _ => {}
        }
    }

    /// Accesses that are atomic.
    fn atomic(&mut self, after: &mut State, who: (usize, u32), act: &Act) {
        let (thread, _) = who;
        let (Act::Load { atomic, .. }
        | Act::Store { atomic, .. }
        | Act::Fetch { atomic, .. }
        | Act::Exchange { atomic, .. }
        | Act::Cas { atomic, .. }) = act
        else {
            return;
        };
        let atomic = *atomic;
        let place = place(self.program, Var::Atomic(atomic));
        let old = place.number(contents(after, place));
        // What is stored, if anything; with which order that happens; what the local variable gets.
        let (stored, order, result) = match act {
            Act::Load { local, order, .. } => (None, *order, Some((*local, old))),
            Act::Store { value, order, .. } => {
                let value = worth(after, thread, *value);
                self.access(after, who, place, Some(raw(value)), true);
                publish(after, thread, atomic, *order, false);
                return;
            }
            Act::Fetch {
                local,
                how,
                by,
                order,
                ..
            } => {
                let value = how.of(old, i32::from(*by));
                (Some(value), *order, Some((*local, old)))
            }
            Act::Exchange {
                local,
                value,
                order,
                ..
            } => {
                let value = worth(after, thread, *value);
                (Some(value), *order, Some((*local, old)))
            }
            Act::Cas {
                local,
                expected,
                desired,
                success,
                failure,
                ..
            } => {
                if old == i32::from(*expected) {
                    (Some(i32::from(*desired)), *success, Some((*local, 1)))
                } else {
                    (None, *failure, Some((*local, 0)))
                }
            }
            _ => return,
        };
        // Who released what is read is before all of this, its write included.
        observe(after, thread, atomic, order);
        self.access(after, who, place, stored.map(raw), true);
        if stored.is_some() {
            publish(after, thread, atomic, order, true);
        }
        if let Some((local, value)) = result {
            after.threads[thread].locals[local] = value;
        }
    }
}

fn fence(after: &mut State, thread: usize, order: Order) {
    if order.acquires() {
        let pending = after.threads[thread].pending;
        after.threads[thread].clock.join(&pending);
    }
    if order.releases() {
        after.threads[thread].fence = release(after, thread);
    }
}

/// A number's bytes.
fn raw(value: i32) -> u64 {
    i64::from(value) as u64
}
