//! Small programs at random.

use proptest::prelude::*;

use super::{
    instruction::{Do, Value},
    model::Model,
};

const VARIABLES: u64 = 3;

fn access() -> impl Strategy<Value = Do> {
    let value = prop_oneof![(1_u64..3).prop_map(Value::Number), Just(Value::Next)];
    prop_oneof![
        3 => (0..VARIABLES).prop_map(Do::Read),
        3 => (0..VARIABLES, value.clone()).prop_map(|(at, value)| Do::Write(at, value)),
        1 => (0..VARIABLES).prop_map(Do::AtomicRead),
        1 => (0..VARIABLES, value).prop_map(|(at, value)| Do::AtomicWrite(at, value)),
        1 => (0..VARIABLES).prop_map(Do::Add),
        1 => Just(Do::ReadAt),
        1 => (0..VARIABLES - 1).prop_map(Do::WriteBoth),
    ]
}

fn accesses() -> impl Strategy<Value = Vec<Do>> {
    prop::collection::vec(access(), 0..3)
}

fn between(first: Do, inner: Vec<Do>, last: Do) -> Vec<Do> {
    let mut all = vec![first];
    all.extend(inner);
    all.push(last);
    all
}

/// What a program is about.
#[derive(Clone, Copy, Debug)]
enum Theme {
    Memory,
    Locks,
    ReadLocks,
    Conditions,
    Semaphores,
    Barriers,
    Channels,
    Onces,
    All,
}

fn memory() -> impl Strategy<Value = Vec<Do>> {
    prop_oneof![
        4 => access().prop_map(|one| vec![one]),
        2 => (access(), 0_u64..3, access())
            .prop_map(|(one, value, then)| vec![one, Do::Unless(value, 1), then]),
        1 => (access(), 1_u64..4).prop_map(|(one, value)| vec![one, Do::DieIf(value)]),
    ]
}

fn locks() -> impl Strategy<Value = Vec<Do>> {
    prop_oneof![
        3 => (0_u64..2, accesses())
            .prop_map(|(lock, inner)| between(Do::Lock(lock), inner, Do::Unlock(lock))),
        1 => (0_u64..2, 0_u64..2, accesses()).prop_map(|(outer, lock, inner)| {
            let inner = between(Do::Lock(lock), inner, Do::Unlock(lock));
            between(Do::Lock(outer), inner, Do::Unlock(outer))
        }),
        1 => (0_u64..2, accesses()).prop_map(|(lock, inner)| {
            between(Do::TryLock(lock, inner.len() + 1), inner, Do::Unlock(lock))
        }),
    ]
}

fn read_locks() -> impl Strategy<Value = Vec<Do>> {
    prop_oneof![
        (0_u64..2, accesses()).prop_map(|(lock, inner)| between(
            Do::ReadLock(lock),
            inner,
            Do::ReadUnlock(lock)
        )),
        (0_u64..2, accesses()).prop_map(|(lock, inner)| {
            let first = Do::TryReadLock(lock, inner.len() + 1);
            between(first, inner, Do::ReadUnlock(lock))
        }),
        locks(),
    ]
}

fn conditions() -> impl Strategy<Value = Vec<Do>> {
    prop_oneof![
        (any::<bool>(), accesses()).prop_map(|(timed, inner)| {
            let wait = if timed {
                Do::TimedWait(0, 0)
            } else {
                Do::Wait(0, 0)
            };
            let inner = between(wait, inner, Do::Unlock(0));
            [vec![Do::Lock(0)], inner].concat()
        }),
        (any::<bool>(), any::<bool>()).prop_map(|(all, locked)| {
            let notify = if all { Do::NotifyAll(0) } else { Do::Notify(0) };
            if locked {
                between(Do::Lock(0), vec![notify], Do::Unlock(0))
            } else {
                vec![notify]
            }
        }),
    ]
}

fn semaphores() -> impl Strategy<Value = Vec<Do>> {
    prop_oneof![
        (0_u64..2).prop_map(|semaphore| vec![Do::Post(semaphore)]),
        (0_u64..2).prop_map(|semaphore| vec![Do::Take(semaphore)]),
        (0_u64..2, access())
            .prop_map(|(semaphore, then)| { vec![Do::TryTake(semaphore), Do::Unless(1, 1), then] }),
    ]
}

fn barriers() -> impl Strategy<Value = Vec<Do>> {
    access().prop_map(|then| vec![Do::Barrier(0, 2), Do::Leave(0), Do::Unless(1, 1), then])
}

fn channels() -> impl Strategy<Value = Vec<Do>> {
    prop_oneof![
        (0_u64..2).prop_map(|channel| vec![Do::Send(channel)]),
        (0_u64..2).prop_map(|channel| vec![Do::Receive(channel)]),
        (0_u64..2, access()).prop_map(|(channel, then)| vec![
            Do::Receive(channel),
            Do::Unless(1, 1),
            then
        ]),
    ]
}

fn onces() -> impl Strategy<Value = Vec<Do>> {
    (0_u64..2, accesses()).prop_map(|(once, inner)| {
        let first = Do::Once(once, inner.len() + 1);
        between(first, inner, Do::Done(once))
    })
}

/// A few instructions that belong together.
fn block(theme: Theme) -> BoxedStrategy<Vec<Do>> {
    let themed = match theme {
        Theme::Memory => memory().boxed(),
        Theme::Locks => locks().boxed(),
        Theme::ReadLocks => read_locks().boxed(),
        Theme::Conditions => conditions().boxed(),
        Theme::Semaphores => semaphores().boxed(),
        Theme::Barriers => barriers().boxed(),
        Theme::Channels => channels().boxed(),
        Theme::Onces => onces().boxed(),
        Theme::All => prop_oneof![
            channels(),
            onces(),
            locks(),
            read_locks(),
            conditions(),
            semaphores(),
            barriers()
        ]
        .boxed(),
    };
    prop_oneof![memory(), themed].boxed()
}

fn thread(theme: Theme) -> impl Strategy<Value = Vec<Do>> {
    prop::collection::vec(block(theme), 1..4).prop_map(|blocks| blocks.concat())
}

fn threads(theme: Theme) -> impl Strategy<Value = Vec<Vec<Do>>> {
    prop_oneof![
        4 => prop::collection::vec(thread(theme), 2..4),
        1 => prop::collection::vec(block(theme), 4),
    ]
}

/// A program of two to four threads.
pub(super) fn model() -> impl Strategy<Value = Model> {
    let theme = prop_oneof![
        Just(Theme::Memory),
        Just(Theme::Locks),
        Just(Theme::ReadLocks),
        Just(Theme::Conditions),
        Just(Theme::Semaphores),
        Just(Theme::Barriers),
        Just(Theme::Channels),
        Just(Theme::Onces),
        Just(Theme::All),
    ];
    (
        theme.prop_flat_map(threads),
        0_u64..3,
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(mut threads, semaphore, split, forks)| {
            if forks {
                let others = 1..threads.len() as u32;
                let mut first = vec![Do::Write(1, Value::Next)];
                first.extend(others.clone().map(Do::Fork));
                first.append(&mut threads[0]);
                first.extend(others.map(Do::Join));
                first.push(Do::Read(0));
                threads[0] = first;
            }
            Model {
                threads,
                memory: vec![0; VARIABLES as usize],
                semaphores: vec![semaphore, 0],
                split,
                leaves: false,
                runs: 0,
            }
        })
}

/// Some accesses, each in a section of a lock.
fn sections() -> impl Strategy<Value = Vec<Do>> {
    let inner = prop_oneof![
        3 => (0..VARIABLES).prop_map(|at| vec![Do::Read(at)]),
        2 => (0..VARIABLES, 1_u64..3).prop_map(|(at, value)| vec![Do::Write(at, Value::Number(value))]),
        2 => (0..VARIABLES).prop_map(|at| vec![Do::Read(at), Do::Write(at, Value::Next)]),
        1 => (0..VARIABLES, 0_u64..2).prop_map(|(at, value)| vec![Do::Read(at), Do::Unless(value, 1), Do::Write(at, Value::Next)]),
    ];
    let section = prop_oneof![
        4 => (0_u64..2, inner.clone())
            .prop_map(|(lock, inner)| between(Do::Lock(lock), inner, Do::Unlock(lock))),
        1 => (0_u64..2, inner.clone())
            .prop_map(|(lock, inner)| between(Do::ReadLock(lock), inner, Do::ReadUnlock(lock))),
        1 => Just(vec![Do::Add(0)]),
        1 => access().prop_map(|one| vec![one]),
    ];
    prop::collection::vec(section, 1..3).prop_map(|sections| sections.concat())
}

/// A program whose threads meet in locked sections, often in orders that lead to the same state.
pub(super) fn locked_model() -> impl Strategy<Value = Model> {
    prop::collection::vec(sections(), 2..5).prop_map(|threads| Model {
        threads,
        memory: vec![0; VARIABLES as usize],
        ..Model::default()
    })
}
