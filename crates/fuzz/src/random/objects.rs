//! What steps do to objects that several threads wait at: read-write locks, conditions, barriers, channels.

use super::clocks::Clock;
use super::effects::{release, waiters};
use super::state::{NOBODY, State, Status};
use super::step::Machine;

impl Machine<'_> {
    pub(super) fn take_rwlock(
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

    pub(super) fn wake(&self, state: &mut State, waiter: usize, known: &Clock) {
        state.threads[waiter].status = Status::Relocking(false);
        if self.rules.signals_order {
            state.threads[waiter].clock.join(known);
        }
    }

    pub(super) fn signal(&self, after: &State, condition: usize, known: &Clock) -> Vec<State> {
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

    pub(super) fn barrier(&self, after: &mut State, thread: usize, barrier: usize) {
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

    /// Takes a byte out of a channel, or sees that it is closed; whether there was one, or nothing if one
    /// has to wait.
    pub(super) fn receive(&self, after: &mut State, thread: usize, channel: usize) -> Option<bool> {
        let channel = &mut after.channels[channel];
        let (there, mut known) = match (channel.bytes.pop_front(), channel.closed) {
            (Some(sender), _) => (true, sender),
            (None, Some(closer)) if self.rules.channels_order_all => (false, closer),
            (None, Some(_)) => (false, Clock::default()),
            (None, None) => return None,
        };
        if self.rules.channels_order_all {
            known.join(&channel.sent);
        }
        after.threads[thread].clock.join(&known);
        Some(there)
    }
}
