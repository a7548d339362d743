//! Which synchronisation orders what: C++20's and POSIX's happens-before, no more and no less.
//!
//! * Locks: a release orders later acquisitions. What readers of a read-write lock release orders
//!   later writers only.
//! * Conditions, semaphores, annotations, things done once: whoever is woken, takes, receives or
//!   finds it done learns what those knew who notified, posted, sent or did it.
//! * Barriers: whoever leaves a round learns what all who came to it knew.
//! * Threads: creation and join.
//! * Atomics by their order: an acquire load learns what the release sequence that it reads from
//!   carries. A store begins a new one, whoever stores; a read-modify-write goes on with it. A
//!   relaxed store carries what the last release fence published; what relaxed loads
//!   have seen is learned at the next acquire fence.
//!
//! Where more is kept than the standard says (a semaphore's earlier posts), races are missed and none
//! is invented.

use deadheat_wire::{Op, Order};

use super::objects::{self, Object, thread_key};
use super::report;
use super::watcher::Watcher;
use crate::record::event::Sync;
use crate::record::handler;
use crate::threads;

fn learn(watcher: &mut Watcher, from: usize) {
    objects::with(from, |object| object.released.join_into(&mut watcher.clock));
    // What a signal handler gave is entered by its thread later. What that thread knows by now is at
    // least what it knew then.
    handler::givers(from, |thread| {
        threads::find(|record| {
            // SAFETY: records in the list are in use; a watcher's pages stay, and its times only
            // grow.
            unsafe {
                let found = (*record).id == thread && !(*record).watcher.is_null();
                if found {
                    let theirs = &raw const (*(*record).watcher).clock;
                    for slot in 1..super::clock::used() {
                        let time = (&raw const (*theirs)[slot]).read_volatile();
                        watcher.clock[slot] = watcher.clock[slot].max(time);
                    }
                }
                found
            }
        });
    });
}

fn release(watcher: &mut Watcher, to: usize, action: impl FnOnce(&mut Watcher, &mut Object)) {
    if objects::with_new(to, |object| action(watcher, object)).is_none() {
        report::give_up("there are too many synchronisation objects");
    }
}

/// A lock is released for the first time: a mark in the shadow says that there is one, so that it
/// is forgotten with its memory.
fn mark(watcher: &mut Watcher, lock: usize, pc: usize) {
    if objects::with(lock, |_| ()).is_none() {
        super::touch(watcher, lock, pc);
    }
}

fn publish(watcher: &mut Watcher, to: usize) {
    release(watcher, to, |watcher, object| {
        watcher.release(&mut object.released)
    });
}

/// A synchronisation other than an atomic access.
pub fn sync(watcher: &mut Watcher, sync: &Sync) {
    if watcher.simple {
        return;
    }
    if watcher.by_word && !orders_in_detail(watcher, sync) {
        return;
    }
    let object = sync.object;
    match sync.op {
        Op::Acquire => {
            objects::with(object, |object| {
                object.released.join_into(&mut watcher.clock);
                object.readers.join_into(&mut watcher.clock);
            });
        }
        Op::ReadAcquire | Op::Wake => learn(watcher, object),
        Op::Take | Op::Receive => {
            learn(watcher, object);
            objects::with(object, |object| {
                object.readers.join_into(&mut watcher.clock);
            });
        }
        Op::Release | Op::Notify | Op::NotifyAll | Op::Post => {
            mark(watcher, object, sync.pc);
            publish(watcher, object);
        }
        // An annotation's object may be an atomic one, whose stores end what atomics have released.
        Op::Send => {
            mark(watcher, object, sync.pc);
            release(watcher, object, |watcher, object| {
                watcher.release(&mut object.readers)
            });
        }
        Op::ReadRelease => release(watcher, object, |watcher, object| {
            watcher.release(&mut object.readers)
        }),
        Op::Fork | Op::End => publish(watcher, thread_key(object as u32)),
        Op::Begin => learn(watcher, thread_key(object as u32)),
        Op::Join => {
            learn(watcher, thread_key(object as u32));
            objects::forget(thread_key(object as u32));
        }
        Op::BarrierEnter => enter_barrier(watcher, object),
        Op::BarrierExit => leave_barrier(watcher, object),
        Op::Init => {
            objects::forget(object);
            if let (BARRIER, Some(count)) = (sync.size_code, sync.operand) {
                release(watcher, object, |_, object| object.expected = count as u32);
            }
        }
        Op::Destroy => objects::forget(object),
        Op::Fence => fence(watcher, sync.order),
        // A store that the C library makes for the program, to what the program reads by itself.
        Op::AtomicWrite => atomic(watcher, sync.op, object, sync.order),
        _ => {}
    }
}

/// The limited order of the detailed mode: locks order nothing, unless they are channels. As in the
/// paper, a lock is one if a condition's waiters use it, or if whoever notifies holds it; that is
/// learned as it happens.
fn orders_in_detail(watcher: &mut Watcher, sync: &Sync) -> bool {
    let make_channel = |lock: usize| {
        objects::with_new(lock, |object| object.is_channel = true);
    };
    match sync.op {
        Op::Acquire | Op::Release | Op::ReadAcquire | Op::ReadRelease => {
            if matches!(sync.op, Op::Release | Op::ReadRelease) {
                watcher.last_released = sync.object;
            }
            objects::with(sync.object, |object| object.is_channel).unwrap_or(false)
        }
        Op::Wait => {
            make_channel(watcher.last_released);
            true
        }
        Op::Notify | Op::NotifyAll => {
            for held in super::context::locks(watcher.held) {
                make_channel(held.lock as usize);
            }
            true
        }
        _ => true,
    }
}

/// How records number barriers among objects.
const BARRIER: u64 = crate::record::event::Kind::Barrier as u64;

/// Comes to a barrier. A round is over when as many have come as it waits for: who comes then is
/// in the next one, while some may still be leaving the last.
fn enter_barrier(watcher: &mut Watcher, barrier: usize) {
    release(watcher, barrier, |watcher, object| {
        if object.expected != 0 && object.arrived == object.expected {
            object.arrived = 0;
            object.round += 1;
            let Object {
                released, readers, ..
            } = object;
            released.swap(readers);
            released.clear();
        }
        object.arrived += 1;
        watcher.barrier_round = object.round;
        watcher.release(&mut object.released);
    });
}

fn leave_barrier(watcher: &mut Watcher, barrier: usize) {
    objects::with(barrier, |object| {
        let left = if watcher.barrier_round == object.round {
            &object.released
        } else {
            &object.readers
        };
        left.join_into(&mut watcher.clock);
    });
}

fn fence(watcher: &mut Watcher, order: Order) {
    if order.acquires() && watcher.has_seen {
        let used = super::clock::used();
        for (mine, seen) in watcher.clock[..used].iter_mut().zip(&watcher.seen) {
            *mine = (*mine).max(*seen);
        }
        watcher.has_seen = false;
    }
    if order.releases() {
        watcher.fence();
    }
}

/// An atomic access. Called in one step with the access itself, so that the order of the clocks
/// is the order of the accesses.
pub fn atomic(watcher: &mut Watcher, op: Op, addr: usize, order: Order) {
    if op.reads() {
        objects::with(addr, |object| {
            if order.acquires() {
                object.released.join_into(&mut watcher.clock);
            } else if !object.released.is_empty() {
                if !watcher.has_seen {
                    watcher.seen.fill(0);
                    watcher.has_seen = true;
                }
                object.released.join_into(&mut watcher.seen);
            }
        });
    }
    if !op.writes() {
        return;
    }
    let carries = order.releases() || watcher.has_fenced;
    if op == Op::AtomicWrite {
        objects::with(addr, |object| object.released.clear());
    }
    if carries {
        release(watcher, addr, |watcher, object| {
            if order.releases() {
                watcher.release(&mut object.released);
            } else if !object.released.join_from(&watcher.fenced) {
                report::give_up("there is no memory for a clock");
            }
        });
    }
}
