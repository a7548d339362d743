//! What threads do together: locking, publication, signals, barriers, and what goes wrong with them.

use super::generate::Builder;
use super::program::{Act, Asking, Language, MutexKind, Node, Order, Value, Var};
use super::waiting::{barrier, condition, handoff, once};

/// Adds one scenario to the threads' work.
pub(crate) fn add(b: &mut Builder) {
    match b.rng.below(20) {
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

/// What surrounds a section.
#[derive(Clone, Copy)]
pub(super) enum Guard {
    None,
    Mutex(usize),
    Try(usize, Asking),
    Shared(usize),
    Exclusive(usize),
    TryRwlock(usize, bool),
    Semaphore(usize),
    TrySemaphore(usize, bool),
}

pub(super) fn wrap(guard: Guard, mut inner: Vec<Act>) -> Vec<Act> {
    let around = |first: Act, mut inner: Vec<Act>, last: Act| {
        inner.insert(0, first);
        inner.push(last);
        inner
    };
    let nodes = |acts: Vec<Act>| acts.into_iter().map(Node::from).collect::<Vec<_>>();
    match guard {
        Guard::None => inner,
        Guard::Mutex(mutex) => around(Act::Lock { mutex }, inner, Act::Unlock { mutex }),
        Guard::Try(mutex, asking) => {
            inner.push(Act::Unlock { mutex });
            let body = nodes(inner);
            vec![Act::IfLock {
                mutex,
                asking,
                body,
            }]
        }
        Guard::Shared(rwlock) => around(
            Act::LockShared { rwlock },
            inner,
            Act::UnlockShared { rwlock },
        ),
        Guard::Exclusive(rwlock) => around(
            Act::LockExclusive { rwlock },
            inner,
            Act::UnlockExclusive { rwlock },
        ),
        Guard::TryRwlock(rwlock, exclusive) => {
            inner.push(if exclusive {
                Act::UnlockExclusive { rwlock }
            } else {
                Act::UnlockShared { rwlock }
            });
            let body = nodes(inner);
            vec![Act::IfRwlock {
                rwlock,
                exclusive,
                body,
            }]
        }
        Guard::Semaphore(semaphore) => {
            around(Act::Acquire { semaphore }, inner, Act::Post { semaphore })
        }
        Guard::TrySemaphore(semaphore, timed) => {
            inner.push(Act::Post { semaphore });
            let body = nodes(inner);
            vec![Act::IfAcquire {
                semaphore,
                timed,
                body,
            }]
        }
    }
}

fn exchange(b: &mut Builder, local: usize, atomic: usize, expected: i16, desired: i16) -> Act {
    let success = b.any_order();
    let failure = b.failure_order(success);
    Act::Cas {
        local,
        atomic,
        expected,
        desired,
        success,
        failure,
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
            b.program.semaphores.push(1);
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
                let timed = b.language() == Language::C
                    && b.program.mutexes.get(object) == Some(&MutexKind::Normal);
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
            3..5 if trying => Guard::TryRwlock(object, !reads),
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

/// Something plain is written and published by an atomic variable, with orders that may do or not.
pub(super) fn publication(b: &mut Builder) {
    let var = b.plain();
    let atomic = b.atomic();
    let who = b.participants(2);
    let [writer, reader, rest @ ..] = who.as_slice() else {
        return;
    };
    let mut acts = b.accesses(var);
    if b.rng.percent(25) {
        let order = b.order(&[Order::Release, Order::AcqRel, Order::SeqCst, Order::Acquire]);
        acts.push(Act::Fence { order });
    }
    let local = b.local();
    acts.push(match b.rng.below(6) {
        0 => Act::FetchAdd {
            local,
            atomic,
            by: 1,
            order: b.any_order(),
        },
        1 => Act::Exchange {
            local,
            atomic,
            value: Value::Const(1),
            order: b.any_order(),
        },
        2 => exchange(b, local, atomic, 0, 1),
        _ => Act::Store {
            atomic,
            value: Value::Const(1),
            order: b.store_order(),
        },
    });
    if b.rng.percent(15) {
        acts.push(Act::Store {
            atomic,
            value: Value::Const(2),
            order: b.store_order(),
        });
    }
    b.put(*writer, acts);
    for middle in rest {
        let local = b.local();
        let act = match b.rng.below(3) {
            0 => Act::FetchAdd {
                local,
                atomic,
                by: 1,
                order: b.any_order(),
            },
            1 => Act::Store {
                atomic,
                value: Value::Const(2),
                order: b.store_order(),
            },
            _ => exchange(b, local, atomic, 1, 2),
        };
        b.put(*middle, vec![act]);
    }
    let local = b.local();
    let mut acts = Vec::new();
    let equals = 1 + i16::from(!rest.is_empty() && b.rng.percent(60));
    let equals = match b.rng.below(7) {
        0 => {
            acts.push(Act::FetchAdd {
                local,
                atomic,
                by: 2,
                order: b.any_order(),
            });
            equals
        }
        1 => {
            acts.push(exchange(b, local, atomic, equals, 5));
            i16::from(b.rng.percent(60))
        }
        2 => {
            acts.push(Act::Read {
                local,
                var: Var::Atomic(atomic),
            });
            equals
        }
        _ => {
            acts.push(Act::Load {
                local,
                atomic,
                order: b.load_order(),
            });
            equals
        }
    };
    let mut body = Vec::new();
    if b.rng.percent(25) {
        let order = b.order(&[Order::Acquire, Order::AcqRel, Order::SeqCst, Order::Release]);
        body.push(Act::Fence { order });
    }
    body.extend(b.accesses(var));
    let body = body.into_iter().map(Node::from).collect();
    acts.push(Act::If {
        local,
        equals,
        body,
    });
    b.put(*reader, acts);
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
        let atomic = b.program.atomics;
        b.program.atomics += 1;
        let whole = b.rng.percent(30);
        for thread in who {
            let local = b.local();
            let acts = if whole {
                vec![Act::FetchAdd {
                    local,
                    atomic,
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
                    vec![Act::FetchAdd {
                        local,
                        atomic,
                        by: 1,
                        order: b.any_order(),
                    }]
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
                3 => vec![Act::Yield],
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
