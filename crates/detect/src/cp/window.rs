//! The relation in one window, and its races.

use std::collections::VecDeque;
use std::rc::Rc;

use deadheat_trace::{Addr, LockId, ThreadId};

use super::sections::{Sections, Use};
use crate::accesses::Accesses;
use crate::causal::CausalClocks;
use crate::{Access, Held, Race, Races, Shadow};

/// A step of the window.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    /// Whose.
    pub thread: ThreadId,
    /// What it is.
    pub what: What,
    /// What happens before it, and what lies before it by messages alone.
    pub clocks: Rc<CausalClocks>,
}

/// What a step means for the relation.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// An access.
    Access(Access),
    /// A block of memory is given back: a write to what was accessed in it.
    Gone {
        access: Access,
        addr: Addr,
        size: u64,
    },
    /// Memory is handed out.
    New { addr: Addr, size: u64 },
    /// A lock is taken.
    Taken(Held),
    /// A lock is given back.
    Given(Held),
    /// Something else that may send or receive.
    Message,
}

/// A part of the trace.
#[derive(Default)]
pub(super) struct Window {
    moments: VecDeque<Moment>,
    /// How many of them were the end of the last window: their races are told.
    told: usize,
    /// The sections that were open where the window begins.
    open: Vec<(ThreadId, LockId, bool)>,
    number: u64,
    uses: Shadow<Dated<Vec<Use>>>,
    accesses: Shadow<Dated<Accesses>>,
}

/// What is known about a cell in a window of some number.
#[derive(Clone, Debug, Default)]
struct Dated<T> {
    window: u64,
    state: T,
}

impl Window {
    /// One more step.
    pub fn push(&mut self, moment: Moment) {
        self.moments.push_back(moment);
    }

    /// How many steps it has.
    pub fn len(&self) -> usize {
        self.moments.len()
    }

    /// Begins so many steps later.
    pub fn slide(&mut self, count: usize) {
        let count = count.min(self.moments.len());
        for moment in self.moments.drain(..count) {
            match moment.what {
                What::Taken(held) => self.open.push((moment.thread, held.lock, held.shared)),
                What::Given(held) => {
                    let given = (moment.thread, held.lock, held.shared);
                    self.open.retain(|open| *open != given);
                }
                _ => {}
            }
        }
        self.told = self.moments.len();
    }

    /// Finds the races whose second access was not in the last window.
    pub fn report(&mut self, races: &mut Races) {
        if self.told == self.moments.len() {
            return;
        }
        self.number += 1;
        let mut sections = self.sections();
        while sections.add_by_order(&self.moments) {}
        let (told, accesses, number) = (self.told, &mut self.accesses, self.number);
        sections.follow(&self.moments, |at, moment, clock| {
            let (second, addr, size) = match moment.what {
                What::New { addr, size } => return accesses.forget(addr, size, |_| {}),
                What::Access(access) => (access, access.event.addr(), access.event.size()),
                What::Gone { access, addr, size } => (access, addr, size),
                _ => return,
            };
            let add = |cell: &mut Dated<Accesses>| {
                let mut race = |first| {
                    if at >= told {
                        races.add(Race { first, second });
                    }
                };
                cell.of(number).add(second, clock, &mut race);
            };
            match moment.what {
                What::Gone { .. } => accesses.revisit(addr, size, add),
                _ => accesses.access(addr, size, add),
            }
        });
    }

    /// The sections, and which end before others begin by rule (a).
    fn sections(&mut self) -> Sections {
        let mut sections = Sections::default();
        for (thread, lock, shared) in &self.open {
            let first = self.moments.iter().find(|moment| moment.thread == *thread);
            if let Some(first) = first {
                sections.begin(first, *lock, *shared);
            }
        }
        for (at, moment) in self.moments.iter().enumerate() {
            let (thread, number) = (moment.thread, self.number);
            sections.last.insert(thread, at);
            match moment.what {
                What::Access(access) => {
                    let (event, writes) = (&access.event, access.event.op().writes());
                    self.uses.access(event.addr(), event.size(), |cell| {
                        sections.add_use(thread, writes, cell.of(number));
                    });
                }
                What::Gone { addr, size, .. } => self.uses.revisit(addr, size, |cell| {
                    sections.add_use(thread, true, cell.of(number));
                }),
                What::New { addr, size } => self.uses.forget(addr, size, |_| {}),
                What::Taken(held) => {
                    let section = sections.begin(moment, held.lock, held.shared);
                    sections.at.insert(at, section);
                }
                What::Given(held) => {
                    if let Some(section) = sections.end(moment, held) {
                        sections.at.insert(at, section);
                    }
                }
                What::Message => {}
            }
        }
        sections
    }

    /// About how many bytes it holds.
    pub fn memory(&self) -> usize {
        let uses = self.uses.states();
        let uses = uses.map(|cell| cell.state.capacity() * size_of::<Use>());
        self.moments.capacity() * size_of::<Moment>()
            + self.uses.memory()
            + uses.sum::<usize>()
            + self.accesses.memory()
    }
}

impl<T: Default> Dated<T> {
    /// The state in this window.
    fn of(&mut self, window: u64) -> &mut T {
        if self.window != window {
            self.window = window;
            self.state = T::default();
        }
        &mut self.state
    }
}
