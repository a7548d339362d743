//! Locks and semaphores around sections.

use super::program::{Act, Asking, Node};

/// What surrounds a section.
#[derive(Clone, Copy)]
pub(super) enum Guard {
    None,
    Mutex(usize),
    Try(usize, Asking),
    Shared(usize),
    Exclusive(usize),
    TryRwlock {
        rwlock: usize,
        exclusive: bool,
        timed: bool,
    },
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
        Guard::TryRwlock {
            rwlock,
            exclusive,
            timed,
        } => {
            inner.push(if exclusive {
                Act::UnlockExclusive { rwlock }
            } else {
                Act::UnlockShared { rwlock }
            });
            let body = nodes(inner);
            vec![Act::IfRwlock {
                rwlock,
                exclusive,
                timed,
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
