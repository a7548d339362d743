//! Which programs mean something: locks are given back by who has them, waits hold their mutex, threads are
//! created before they are joined.
//!
//! What a language leaves undefined is not generated, so that every report about a program is right or wrong.

use super::program::{
    Act, Asking, Language, MutexKind, Node, Program, SemaphoreKind, Style, THREADS,
};
use std::collections::BTreeMap;

/// What a thread may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Held {
    Mutex(usize),
    Shared(usize),
    Exclusive(usize),
}

struct Walk<'a> {
    program: &'a Program,
    main: bool,
    held: BTreeMap<Held, usize>,
    /// Threads that this one has created and neither joined nor detached.
    children: Vec<usize>,
    /// Channels that this one has closed.
    closed: Vec<usize>,
    /// Whether this is inside of a loop.
    repeated: bool,
}

/// Whether a program is one that the languages give a meaning.
#[must_use]
pub fn is_valid(program: &Program) -> bool {
    if program.threads.is_empty() || program.threads.len() > THREADS {
        return false;
    }
    let mut creators = vec![0; program.threads.len()];
    program.visit(&mut |node| {
        if let Act::Create { thread } = node.act
            && let Some(count) = creators.get_mut(thread)
        {
            *count += 1;
        }
    });
    if creators.first() != Some(&0) || creators.iter().skip(1).any(|n| *n != 1) {
        return false;
    }
    if !(is_given_back_once(program) && closer_is_only_sender(program)) {
        return false;
    }
    program.threads.iter().enumerate().all(|(number, body)| {
        let mut walk = Walk {
            program,
            main: number == 0,
            held: BTreeMap::new(),
            children: Vec::new(),
            closed: Vec::new(),
            repeated: false,
        };
        if walk.block(body, true).is_none() {
            return false;
        }
        // A std::thread must not be destroyed while it can be joined, and a std::mutex is its owner's to give
        // back.
        program.language != Language::Cpp || (walk.children.is_empty() && walk.held.is_empty())
    })
}

/// Whether no heap block is freed by two statements.
fn is_given_back_once(program: &Program) -> bool {
    let mut freed = vec![0; program.blocks];
    program.visit(&mut |node| {
        if let Act::Free { block } = node.act
            && let Some(count) = freed.get_mut(block)
        {
            *count += 1;
        }
    });
    freed.iter().all(|count| *count <= 1)
}

/// Whether nobody sends on a channel that another thread closes.
fn closer_is_only_sender(program: &Program) -> bool {
    let uses = |body: &Vec<Node>, channel: usize, closes: bool| {
        let like = |node: &Node| match node.act {
            Act::Close { channel: c } => c == channel && closes,
            Act::Send { channel: c } => c == channel,
            _ => false,
        };
        fn any(nodes: &[Node], like: &dyn Fn(&Node) -> bool) -> bool {
            let inside = |n: &Node| n.act.body().is_some_and(|body| any(body, like));
            nodes.iter().any(|n| like(n) || inside(n))
        }
        any(body, &like)
    };
    (0..program.channels.len()).all(|channel| {
        let mut threads = program.threads.iter();
        let closes = |body: &&Vec<Node>| {
            let close = |n: &Node| matches!(n.act, Act::Close { channel: c } if c == channel);
            body.iter().any(close)
        };
        !threads.any(|body| closes(&body))
            || program
                .threads
                .iter()
                .filter(|body| uses(body, channel, true))
                .count()
                == 1
    })
}

impl Walk<'_> {
    fn block(&mut self, nodes: &[Node], top: bool) -> Option<()> {
        nodes.iter().try_for_each(|node| self.one(&node.act, top))
    }

    fn has(&self, mutex: usize) -> usize {
        self.held.get(&Held::Mutex(mutex)).copied().unwrap_or(0)
    }

    fn kind(&self, mutex: usize) -> Option<MutexKind> {
        self.program.mutexes.get(mutex).copied()
    }

    fn drop_one(&mut self, what: Held) -> Option<()> {
        let count = self.held.get_mut(&what)?;
        *count -= 1;
        if *count == 0 {
            self.held.remove(&what);
        }
        Some(())
    }

    /// A body that leaves everything held as it was, and ends no thread.
    fn inside(&mut self, body: &[Node]) -> Option<()> {
        let before = self.held.clone();
        self.block(body, false)?;
        (self.held == before).then_some(())
    }

    /// Rust's read-write locks prefer writers in ways of their own: nobody waits for anything else while
    /// holding one.
    fn may_wait(&self) -> Option<()> {
        let holds_rwlock = self.held.keys().any(|h| !matches!(h, Held::Mutex(_)));
        (self.program.language != Language::Rust || !holds_rwlock).then_some(())
    }

    fn rwlock_free(&self, rwlock: usize) -> Option<()> {
        (rwlock < self.program.rwlocks
            && !self.held.contains_key(&Held::Shared(rwlock))
            && !self.held.contains_key(&Held::Exclusive(rwlock)))
        .then_some(())
    }

    fn one(&mut self, act: &Act, top: bool) -> Option<()> {
        let language = self.program.language;
        match act {
            Act::Lock { mutex } => {
                self.may_wait()?;
                let again = self.has(*mutex) > 0;
                match self.kind(*mutex)? {
                    MutexKind::Recursive => {}
                    MutexKind::Checked if again => return None,
                    MutexKind::Normal | MutexKind::Spin | MutexKind::Timed
                        if again && language != Language::C =>
                    {
                        return None;
                    }
                    _ => {}
                }
                *self.held.entry(Held::Mutex(*mutex)).or_insert(0) += 1;
            }
            Act::Unlock { mutex } => self.drop_one(Held::Mutex(*mutex))?,
            Act::IfLock {
                mutex,
                asking,
                body,
            } => {
                let kind = self.kind(*mutex)?;
                let again = self.has(*mutex) > 0;
                let fits = match asking {
                    Asking::Try => {
                        language == Language::C || !again || kind == MutexKind::Recursive
                    }
                    Asking::Timed => {
                        let posix = language == Language::C && self.program.style == Style::Posix;
                        let fits = kind == MutexKind::Timed || posix && kind == MutexKind::Normal;
                        !again && fits
                    }
                    Asking::Checked => language == Language::C && kind == MutexKind::Checked,
                };
                if !fits {
                    return None;
                }
                if *asking != Asking::Try {
                    self.may_wait()?;
                }
                self.inside_taken(body, Held::Mutex(*mutex))?;
            }
            Act::LockShared { rwlock } | Act::LockExclusive { rwlock } => {
                self.may_wait()?;
                self.rwlock_free(*rwlock)?;
                let held = if matches!(act, Act::LockShared { .. }) {
                    Held::Shared(*rwlock)
                } else {
                    Held::Exclusive(*rwlock)
                };
                self.held.insert(held, 1);
            }
            Act::UnlockShared { rwlock } => self.drop_one(Held::Shared(*rwlock))?,
            Act::UnlockExclusive { rwlock } => self.drop_one(Held::Exclusive(*rwlock))?,
            Act::IfRwlock {
                rwlock,
                exclusive,
                timed,
                body,
            } => {
                if *timed && language == Language::Rust {
                    return None;
                }
                self.rwlock_free(*rwlock)?;
                self.inside_taken(
                    body,
                    if *exclusive {
                        Held::Exclusive(*rwlock)
                    } else {
                        Held::Shared(*rwlock)
                    },
                )?;
            }
            Act::Acquire { .. } => self.may_wait()?,
            Act::IfAcquire {
                semaphore, body, ..
            } => {
                if self.program.semaphores.get(*semaphore)?.0 != SemaphoreKind::Own {
                    return None;
                }
                self.may_wait()?;
                self.inside(body)?;
            }
            Act::Await { mutex, .. } | Act::Wait { mutex, .. } | Act::TimedWait { mutex, .. } => {
                self.may_wait()?;
                if self.has(*mutex) != 1
                    || self.kind(*mutex)? == MutexKind::Spin
                    || (language == Language::Cpp && self.kind(*mutex)? != MutexKind::Normal)
                {
                    return None;
                }
            }
            Act::Barrier { .. } | Act::Once { .. } => self.may_wait()?,
            Act::If { body, .. } => self.inside(body)?,
            Act::Repeat { body, .. } => {
                let outer = std::mem::replace(&mut self.repeated, true);
                self.inside(body)?;
                self.repeated = outer;
            }
            Act::Free { .. } => return (!self.repeated).then_some(()),
            Act::Receive { .. } => self.may_wait()?,
            Act::Send { channel } => return (!self.closed.contains(channel)).then_some(()),
            Act::Close { channel } => {
                if !top || self.closed.contains(channel) {
                    return None;
                }
                self.closed.push(*channel);
            }
            Act::Create { thread } => {
                if !top || *thread == 0 {
                    return None;
                }
                self.children.push(*thread);
            }
            Act::Join { thread } | Act::Detach { thread } => {
                self.may_wait()?;
                let at = self.children.iter().position(|c| c == thread)?;
                if !top {
                    return None;
                }
                self.children.remove(at);
            }
            Act::Print { .. } => return self.main.then_some(()),
            Act::Leave => return (language == Language::C && top).then_some(()),
            Act::Exit { flush } => return (language != Language::Rust || *flush).then_some(()),
            _ => {}
        }
        Some(())
    }

    /// A body that begins with something taken and gives it back.
    fn inside_taken(&mut self, body: &[Node], what: Held) -> Option<()> {
        let before = self.held.clone();
        *self.held.entry(what).or_insert(0) += 1;
        self.block(body, false)?;
        (self.held == before).then_some(())
    }
}
