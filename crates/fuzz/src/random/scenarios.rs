//! What threads do together, and what goes wrong with it: sections under locks, locks in two orders, lost
//! updates.

use super::blocks::{heap, overlap};
use super::channels::channel;
use super::generate::Builder;
use super::guards::{Guard, wrap};
use super::program::{
    Act, Arithmetic, Asking, Language, MutexKind, Node, Order, SemaphoreKind, Value, Var,
};
use super::publication::publication;
use super::waiting::{barrier, condition, handoff, once};

/// Adds one scenario to the threads' work.
pub(crate) fn add(b: &mut Builder) {
    match b.rng.below(26) {
        20..22 => overlap(b),
        22..24 => heap(b),
        24..26 => channel(b),
        0..4 => guarded(b),
        4..8 => publication(b),
        8..10 => lock_order(b),
        10..12 => condition(b),
        12 => barrier(b),
        13..15 => handoff(b),
        15 => once(b),
        16..18 => lost_update(b),
        _ => soup(b),
    }
}

fn only_reads(acts: &[Act]) -> bool {
    acts.iter().all(|a| matches!(a, Act::Read { .. }))
}

/// Every access under one lock, but perhaps one.
fn guarded(b: &mut Builder) {
    let var = b.plain();
    let kind = b
        .rng
        .below(if b.language() == Language::Rust { 5 } else { 7 });
    let object = match kind {
        0..3 => b.mutex(),
        3..5 => {
            b.program.rwlocks += 1;
            b.program.rwlocks - 1
        }
        _ => {
            b.program.semaphores.push((SemaphoreKind::Own, 1));
            b.program.semaphores.len() - 1
        }
    };
    let who = b.participants(2);
    let careless = b.rng.percent(45).then(|| b.rng.below(who.len()));
    for (n, thread) in who.into_iter().enumerate() {
        let inner = b.accesses(var);
        let reads = only_reads(&inner);
        let trying = b.rng.percent(20);
        let mut guard = match kind {
            0..3 if trying => {
                let checked = b.program.mutexes.get(object) == Some(&MutexKind::Checked);
                let timed = match b.program.mutexes.get(object) {
                    Some(MutexKind::Timed) => true,
                    Some(MutexKind::Normal) => b.language() == Language::C,
                    _ => false,
                };
                Guard::Try(
                    object,
                    match b.rng.below(3) {
                        0 if checked => Asking::Checked,
                        1 if timed => Asking::Timed,
                        _ => Asking::Try,
                    },
                )
            }
            0..3 => Guard::Mutex(object),
            3..5 if trying => Guard::TryRwlock {
                rwlock: object,
                exclusive: !reads,
                timed: b.language() != Language::Rust && b.rng.percent(50),
            },
            3..5 if reads => Guard::Shared(object),
            3..5 => Guard::Exclusive(object),
            _ if trying => Guard::TrySemaphore(object, b.rng.percent(50)),
            _ => Guard::Semaphore(object),
        };
        if careless == Some(n) {
            guard = match b.rng.below(3) {
                0 => Guard::Mutex(b.mutex()),
                1 if (3..5).contains(&kind) => Guard::Shared(object),
                _ => Guard::None,
            };
        }
        let mut acts = wrap(guard, inner);
        if b.rng.percent(10) {
            let body = acts.into_iter().map(Node::from).collect();
            acts = vec![Act::Repeat { times: 2, body }];
        }
        b.put(thread, acts);
    }
}

/// Two locks, taken in orders of everybody's own.
fn lock_order(b: &mut Builder) {
    let locks = [b.mutex(), b.mutex()];
    let third = b.rng.percent(25).then(|| b.mutex());
    let rwlock = (b.language() != Language::Rust && b.rng.percent(25)).then(|| {
        b.program.rwlocks += 1;
        b.program.rwlocks - 1
    });
    let var = b.plain();
    let gate = b.rng.percent(20).then(|| b.mutex());
    for thread in b.participants(2) {
        let mut pair: Vec<Guard> = locks
            .iter()
            .chain(third.iter())
            .map(|m| Guard::Mutex(*m))
            .collect();
        if let Some(rwlock) = rwlock {
            let guard = if b.rng.percent(50) {
                Guard::Shared(rwlock)
            } else {
                Guard::Exclusive(rwlock)
            };
            pair.push(guard);
        }
        let from = b.rng.below(pair.len());
        pair.rotate_left(from);
        pair.truncate(2);
        if b.rng.percent(30) {
            pair.reverse();
        }
        let mut acts = b.accesses(var);
        for guard in pair {
            acts = match guard {
                Guard::Mutex(m) if b.rng.percent(10) => wrap(Guard::Try(m, Asking::Try), acts),
                guard => wrap(guard, acts),
            };
        }
        if let Some(gate) = gate
            && b.rng.percent(80)
        {
            acts = wrap(Guard::Mutex(gate), acts);
        }
        b.put(thread, acts);
    }
}

/// Two threads add to one variable, and somebody may come between: a check at the end fails.
fn lost_update(b: &mut Builder) {
    let who = b.participants(2);
    let many = i16::try_from(who.len()).unwrap_or(0);
    let local = b.local();
    if b.rng.percent(50) {
        let (var, mutex) = (Var::Plain(b.program.plain), b.mutex());
        b.program.plain += 1;
        let whole = b.rng.percent(30);
        for thread in who {
            let local = b.local();
            let read = vec![Act::Read { local, var }];
            let write = vec![Act::Write {
                var,
                value: Value::Local(local, 1),
            }];
            let acts = if whole {
                wrap(Guard::Mutex(mutex), [read, write].concat())
            } else {
                [
                    wrap(Guard::Mutex(mutex), read),
                    wrap(Guard::Mutex(mutex), write),
                ]
                .concat()
            };
            b.put(thread, acts);
        }
        b.after.push(Act::Read { local, var }.into());
    } else {
        let atomic = b.new_atomic();
        let whole = b.rng.percent(30);
        for thread in who {
            let local = b.local();
            let acts = if whole {
                vec![Act::Fetch {
                    local,
                    atomic,
                    how: Arithmetic::Add,
                    by: 1,
                    order: b.any_order(),
                }]
            } else {
                let (first, then) = (b.load_order(), b.store_order());
                vec![
                    Act::Load {
                        local,
                        atomic,
                        order: first,
                    },
                    Act::Store {
                        atomic,
                        value: Value::Local(local, 1),
                        order: then,
                    },
                ]
            };
            b.put(thread, acts);
        }
        b.after.push(
            Act::Load {
                local,
                atomic,
                order: Order::SeqCst,
            }
            .into(),
        );
    }
    if b.rng.percent(70) {
        b.after.push(
            Act::Check {
                local,
                equals: many,
            }
            .into(),
        );
    }
}

/// Statements without a plan.
fn soup(b: &mut Builder) {
    for thread in b.participants(2) {
        for _ in 0..1 + b.rng.below(3) {
            let local = b.local();
            let acts = match b.rng.below(7) {
                0 => {
                    let atomic = b.atomic();
                    vec![b.fetch(atomic)]
                }
                1 => {
                    let atomic = b.atomic();
                    vec![Act::Store {
                        atomic,
                        value: Value::Const(2),
                        order: b.store_order(),
                    }]
                }
                2 => {
                    let (var, atomic) = (b.plain(), b.atomic());
                    let body = b.accesses(var).into_iter().map(Node::from).collect();
                    vec![
                        Act::Load {
                            local,
                            atomic,
                            order: b.load_order(),
                        },
                        Act::If {
                            local,
                            equals: 1,
                            body,
                        },
                    ]
                }
                3 => vec![if b.rng.percent(50) {
                    Act::Yield
                } else {
                    Act::Sleep
                }],
                4 => {
                    let (mutex, var) = (b.mutex(), b.plain());
                    let inner = b.accesses(var);
                    wrap(Guard::Mutex(mutex), inner)
                }
                _ => {
                    let var = b.plain();
                    b.accesses(var)
                }
            };
            b.put(thread, acts);
        }
    }
}
