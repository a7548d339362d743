//! Causally-precedes, in windows.
//!
//! Follows Smaragdakis, Evans, Sadowski, Yi and Flanagan, *Sound Predictive Race Detection in
//! Polynomial Time* (POPL 2012). The relation is the smallest one such that, for two sections of the same lock, the
//! first one earlier:
//!
//! - (a) the first one's end lies before the second one's beginning if they have accesses that
//!   conflict,
//! - (b) or if something in the first one lies before something in the second one;
//! - (c) what happens before something that lies before lies before, and so does what happens after.
//!
//! Two accesses race if neither this nor the order of their thread orders them. The first race of a
//! window (by its second access) is real, or there is a deadlock that the program can run into.
//!
//! Rule (b) reaches back, so the relation is found by going through the trace until nothing changes
//! ([`sections`]), for a window of it at a time: some number of accesses and synchronisations. A window is a trace of
//! its own, that begins with some locks held: what was before it is not reordered. Each begins in the middle
//! of the one before, so two accesses that are less than half a window apart are in some window together; a pair
//! is told by the first window that has it.
//!
//! The paper computes the relation by Datalog over pairs of events. Here it is by clocks: everything that
//! lies before something does so with its thread's earlier steps. Otherwise as in `wcp`: sections for
//! reading, messages, lock words, blocks of memory.
//!
//! Memory does not grow with the trace, but with the memory that the program uses.

mod sections;
mod window;

use std::rc::Rc;

use deadheat_trace::{EventIndex, LockId, Op, Step, Tables, ThreadId};

use self::window::{Moment, What, Window};
use crate::blocks::{self, Blocks};
use crate::causal::{CausalClocks, LockClocks};
use crate::lock_words::LockWords;
use crate::{Access, Change, Clock, Detector, Held, HeldLocks, Messages, Races};

/// Races by causally-precedes, in windows.
///
/// ```
/// use deadheat_detect::{Detector, Cp, Races};
/// use deadheat_trace::{EventIndex, text};
///
/// // If B is first to take the lock, nothing keeps the accesses apart.
/// let trace = text::parse("A|w(x)|1\nA|acq(m)|2\nA|rel(m)|3\nB|acq(m)|4\nB|rel(m)|5\nB|r(x)|6\n")?;
/// let (mut detector, mut races) = (Cp::new(), Races::new());
/// for (index, step) in trace.steps.iter().enumerate() {
///     detector.step(EventIndex(index as u64), step, &trace.tables, &mut races);
/// }
/// detector.finish(&trace.tables, &mut races);
/// assert_eq!(races.racy_events(), 1);
/// # Ok::<(), text::ParseError>(())
/// ```
pub struct Cp {
    messages: Messages<CausalClocks>,
    held: HeldLocks,
    locks: Vec<Lock>,
    words: LockWords,
    blocks: Blocks,
    /// The clocks of each thread, to be kept, unless they have changed.
    kept: Vec<Option<Rc<CausalClocks>>>,
    window: Window,
    size: usize,
}

#[derive(Default)]
struct Lock {
    /// Who holds it, not for reading.
    owner: Option<ThreadId>,
    clocks: LockClocks,
}

impl Default for Cp {
    fn default() -> Self {
        Self::new()
    }
}

impl Cp {
    /// How many accesses and synchronisations a window has.
    pub const WINDOW: usize = 1000;

    /// At the start of a trace.
    pub fn new() -> Self {
        Self::with_window(Self::WINDOW)
    }

    /// Windows of another size, at least 2.
    pub fn with_window(size: usize) -> Self {
        Cp {
            messages: Messages::new(),
            held: HeldLocks::default(),
            locks: Vec::new(),
            words: LockWords::default(),
            blocks: Blocks::default(),
            kept: Vec::new(),
            window: Window::default(),
            size: size.max(2),
        }
    }

    /// What a step means for the relation.
    fn what(&mut self, access: Access, step: &Step, tables: &Tables) -> Option<What> {
        let event = &step.event;
        match event.op() {
            Op::Read | Op::Write => Some(What::Access(access)),
            Op::AtomicRead | Op::AtomicWrite | Op::AtomicRmw => {
                let plain = !self.words.has(event.addr());
                Some(if plain {
                    What::Access(access)
                } else {
                    What::Message
                })
            }
            Op::Enter | Op::Leave | Op::Branch | Op::ExternalWrite | Op::Exit => None,
            Op::Alloc | Op::Free => match self.blocks.step(step)? {
                blocks::Change::New(addr, size) => {
                    self.words.forget(addr, size);
                    Some(What::New { addr, size })
                }
                blocks::Change::Gone(addr, size) => Some(What::Gone { access, addr, size }),
            },
            _ => Some(match self.held.step(access.index, event) {
                Change::None => What::Message,
                Change::Taken(held) => {
                    self.take(event.thread(), held, tables);
                    What::Taken(held)
                }
                Change::Given(held) => What::Given(held),
            }),
        }
    }

    fn take(&mut self, thread: ThreadId, held: Held, tables: &Tables) {
        if let Some(word) = self.words.add(held.lock, tables) {
            self.messages.ignore_atomics_at(word);
        }
        let lock = lock(&mut self.locks, held.lock);
        let owner = (!held.shared).then_some(thread);
        if let Some(left) = std::mem::replace(&mut lock.owner, owner) {
            self.messages.follow(thread, left);
        }
        lock.clocks
            .take(held.shared, self.messages.clock_mut(thread));
    }

    fn give(&mut self, thread: ThreadId, held: Held) {
        let lock = lock(&mut self.locks, held.lock);
        if !held.shared {
            lock.owner = None;
        }
        lock.clocks.give(held.shared, self.messages.clock(thread));
    }

    fn forget_kept(&mut self, thread: ThreadId) {
        if let Some(kept) = self.kept.get_mut(thread.index()) {
            *kept = None;
        }
    }
}

fn lock(locks: &mut Vec<Lock>, id: LockId) -> &mut Lock {
    if id.index() >= locks.len() {
        locks.resize_with(id.index() + 1, Lock::default);
    }
    &mut locks[id.index()]
}

impl Detector for Cp {
    fn step(&mut self, index: EventIndex, step: &Step, tables: &Tables, races: &mut Races) {
        let event = step.event;
        let (thread, op) = (event.thread(), event.op());
        let sent = self.messages.step(step);
        let Some(what) = self.what(Access { index, event }, step, tables) else {
            return;
        };
        if self.messages.threads() > self.kept.len() {
            self.kept.resize(self.messages.threads(), None);
        }
        let synchronises = !matches!(op, Op::Read | Op::Write);
        if synchronises {
            self.forget_kept(thread);
        }
        let clocks = self.kept[thread.index()]
            .get_or_insert_with(|| Rc::new(self.messages.clock(thread).clone()));
        let clocks = Rc::clone(clocks);
        if let What::Given(held) = what {
            self.give(thread, held);
        }
        self.window.push(Moment {
            thread,
            what,
            clocks,
        });
        if synchronises {
            if sent || matches!(what, What::Given(_)) {
                self.messages.advance(thread);
            }
            self.forget_kept(thread);
            match op {
                Op::Fork => self.forget_kept(event.peer()),
                Op::Lost => self.kept.fill(None),
                _ => {}
            }
        }
        if self.window.len() == self.size {
            self.window.report(races);
            self.window.slide(self.size / 2);
        }
    }

    fn finish(&mut self, _: &Tables, races: &mut Races) {
        self.window.report(races);
        self.window.slide(self.size);
    }

    fn memory(&self) -> usize {
        let lock = |lock: &Lock| size_of::<Lock>() + lock.clocks.memory();
        let kept = |kept: &Rc<CausalClocks>| size_of::<CausalClocks>() + kept.memory();
        self.messages.memory()
            + self.locks.iter().map(lock).sum::<usize>()
            + self.kept.iter().flatten().map(kept).sum::<usize>()
            + self.blocks.memory()
            + self.window.memory()
    }
}
