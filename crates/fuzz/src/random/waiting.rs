//! Scenarios in which somebody waits: conditions, barriers, semaphores, things that are done once.

use super::generate::Builder;
use super::guards::{Guard, wrap};
use super::program::{Act, Language, Node, SemaphoreKind, Value};
use super::publication::publication;

/// A flag, a mutex and a condition.
pub(super) fn condition(b: &mut Builder) {
    let (mutex, flag, data) = (b.plain_mutex(), b.plain(), b.plain());
    b.program.conditions += 1;
    let condition = b.program.conditions - 1;
    let who = b.participants(2);
    let Some((signaller, waiters)) = who.split_first() else {
        return;
    };
    for waiter in waiters {
        let local = b.local();
        let mut inner = vec![match b.rng.below(8) {
            0 => Act::Wait { condition, mutex },
            1 => Act::TimedWait {
                condition,
                mutex,
                local,
            },
            _ => Act::Await {
                condition,
                mutex,
                var: flag,
                until: 1,
            },
        }];
        inner.extend(b.accesses(data));
        b.put(*waiter, wrap(Guard::Mutex(mutex), inner));
    }
    let mut acts = b.accesses(data);
    let set = Act::Write {
        var: flag,
        value: Value::Const(1),
    };
    let wake = if b.rng.percent(50) {
        Act::Signal { condition }
    } else {
        Act::Broadcast { condition }
    };
    match b.rng.below(8) {
        0 => acts.extend([set, wake]),
        1 => {
            acts.push(set);
            acts.extend(wrap(Guard::Mutex(mutex), vec![wake]));
        }
        2 => {
            acts.push(wake);
            acts.extend(wrap(Guard::Mutex(mutex), vec![set]));
        }
        3 => acts.extend(wrap(Guard::Mutex(mutex), vec![set])),
        4 | 5 => {
            acts.extend(wrap(Guard::Mutex(mutex), vec![set]));
            acts.push(wake);
        }
        _ => acts.extend(wrap(Guard::Mutex(mutex), vec![set, wake])),
    }
    b.put(*signaller, acts);
}

/// Everybody writes, meets the others, and reads.
pub(super) fn barrier(b: &mut Builder) {
    let who = b.participants(2);
    let size = who.len() + usize::from(b.rng.percent(10));
    b.program.barriers.push(u8::try_from(size).unwrap_or(2));
    let barrier = b.program.barriers.len() - 1;
    let var = b.plain();
    let other = b.plain();
    for thread in who {
        let mut acts = Vec::new();
        if b.rng.percent(60) {
            acts.extend(b.accesses(var));
        }
        acts.push(Act::Barrier { barrier });
        if b.rng.percent(60) {
            let which = if b.rng.percent(50) { var } else { other };
            acts.extend(b.accesses(which));
        }
        b.put(thread, acts);
    }
}

/// One waits until another has done something: by a semaphore, or in Rust by an atomic read-modify-write.
pub(super) fn handoff(b: &mut Builder) {
    if b.language() == Language::Rust {
        return publication(b);
    }
    let kind = match b.rng.below(4) {
        0 => SemaphoreKind::Eventfd,
        _ => SemaphoreKind::Own,
    };
    let first = u8::from(b.rng.percent(15));
    b.program.semaphores.push((kind, first));
    let semaphore = b.program.semaphores.len() - 1;
    let var = b.plain();
    let who = b.participants(2);
    let Some((taker, givers)) = who.split_first() else {
        return;
    };
    for giver in givers {
        let mut acts = b.accesses(var);
        let at = if b.rng.percent(80) { acts.len() } else { 0 };
        acts.insert(at, Act::Post { semaphore });
        b.put(*giver, acts);
    }
    let inner = b.accesses(var);
    let acts = if kind == SemaphoreKind::Own && b.rng.percent(30) {
        let body = inner.into_iter().map(Node::from).collect();
        vec![Act::IfAcquire {
            semaphore,
            timed: b.rng.percent(50),
            body,
        }]
    } else {
        let mut acts = vec![
            Act::Acquire { semaphore };
            1 + usize::from(givers.len() > 1 && b.rng.percent(50))
        ];
        acts.extend(inner);
        acts
    };
    b.put(*taker, acts);
}

/// Something is made once, and used by all.
pub(super) fn once(b: &mut Builder) {
    let var = b.plain();
    let mut body: Vec<Node> = vec![
        Act::Write {
            var,
            value: Value::Const(3),
        }
        .into(),
    ];
    if b.rng.percent(40) {
        body.push(Act::Add { var, by: 1 }.into());
    }
    b.program.onces.push(body);
    let once = b.program.onces.len() - 1;
    let who = b.participants(2);
    let careless = b.rng.percent(40).then(|| b.rng.below(who.len()));
    for (n, thread) in who.into_iter().enumerate() {
        let local = b.local();
        let mut acts = vec![Act::Read { local, var }];
        if careless != Some(n) {
            acts.insert(0, Act::Once { once });
        }
        b.put(thread, acts);
    }
}
