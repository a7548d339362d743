//! What a step does to clocks and objects: releases, acquisitions, locks and semaphores.

use super::clocks::Clock;
use super::program::{Order, Value};
use super::state::{Ending, NOBODY, State, Status};

pub(super) fn waiters(state: &State, condition: usize) -> Vec<usize> {
    let at = |t: &super::state::Thread| matches!(t.status, Status::Waiting(c, _) if usize::from(c) == condition);
    (0..state.threads.len())
        .filter(|t| at(&state.threads[*t]))
        .collect()
}

/// What a thread knows, for others to learn; what it does from now on is not part of that.
pub(super) fn release(state: &mut State, thread: usize) -> Clock {
    let known = state.threads[thread].clock;
    state.threads[thread].clock.tick(thread);
    known
}

pub(super) fn take(state: &mut State, thread: usize, mutex: usize) {
    let lock = &mut state.mutexes[mutex];
    lock.owner = u8::try_from(thread).unwrap_or(NOBODY);
    lock.depth += 1;
    let known = lock.clock;
    state.threads[thread].clock.join(&known);
}

pub(super) fn give(state: &mut State, thread: usize, mutex: usize) {
    state.mutexes[mutex].depth = state.mutexes[mutex].depth.saturating_sub(1);
    if state.mutexes[mutex].depth == 0 {
        state.mutexes[mutex].owner = NOBODY;
        state.mutexes[mutex].clock = release(state, thread);
    }
}

pub(super) fn take_semaphore(state: &mut State, thread: usize, semaphore: usize) -> bool {
    let (value, known) = &mut state.semaphores[semaphore];
    if *value == 0 {
        return false;
    }
    *value -= 1;
    let known = *known;
    state.threads[thread].clock.join(&known);
    true
}

/// What a load of this order learns, now or at the next fence.
pub(super) fn observe(state: &mut State, thread: usize, atomic: usize, order: Order) {
    let known = state.released[atomic];
    let t = &mut state.threads[thread];
    t.pending.join(&known);
    if order.acquires() {
        t.clock.join(&known);
    }
}

/// What a store leaves for those who read it; a read-modify-write goes on with the release sequence.
pub(super) fn publish(
    state: &mut State,
    thread: usize,
    atomic: usize,
    order: Order,
    goes_on: bool,
) {
    let mut known = if order.releases() {
        release(state, thread)
    } else {
        state.threads[thread].fence
    };
    if goes_on {
        known.join(&state.released[atomic]);
    }
    state.released[atomic] = known;
}

pub(super) fn leave(state: &mut State, thread: usize) {
    state.threads[thread].status = Status::Done;
    if state
        .threads
        .iter()
        .all(|t| matches!(t.status, Status::Done | Status::Unborn))
    {
        state.ending = Some(Ending::Exit);
    }
}

pub(super) fn worth(state: &State, thread: usize, value: Value) -> i32 {
    match value {
        Value::Const(n) => i32::from(n),
        Value::Local(local, more) => {
            state.threads[thread].locals[local].wrapping_add(i32::from(more))
        }
    }
}
