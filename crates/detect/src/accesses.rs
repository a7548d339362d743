//! The accesses to a cell that later ones must be held against.
//!
//! FastTrack (Flanagan and Freund, PLDI 2009) keeps the last write and the last read of a variable as
//! epochs, and a vector of reads only while reads are concurrent. After the first race on a variable
//! that is no longer exact: a write that races with an earlier one replaces it, and what
//! races with the earlier one alone goes unseen. Here an access is dropped only when one that comes
//! after it, by the order that is asked about, *stands for* it: whatever conflicts with the dropped one
//! conflicts with the other, and if it is not ordered behind the dropped one then not behind the other
//! either. So of every access it is known whether it races, races before it or not. And as an access
//! stands only for those at the same place in the program, every pair of places that race is found,
//! up to so many places of a cell, usually [`MOST`]; beyond that, places stand for each other. While one place writes
//! and one reads, that is one write and one read, in place.
//!
//! Atomic accesses do not conflict with each other: an atomic write stands for no plain one.
//! To give memory back is a write.

use deadheat_trace::{Event, Op, Pc, ThreadId};

use crate::{Access, VectorClock};

/// How many accesses of different places are kept of a cell, where there may be very many accesses.
pub(crate) const MOST: usize = 32;

/// An access and its thread's time at it. Time 0: none.
#[derive(Clone, Copy, Debug)]
struct Latest {
    access: Access,
    time: u32,
}

/// What is kept of the accesses to a cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accesses {
    /// A plain write and a plain read, while there is nothing else.
    write: Latest,
    read: Latest,
    /// All that is kept, otherwise.
    concurrent: Option<Box<Concurrent>>,
}

#[derive(Clone, Debug, Default)]
struct Concurrent {
    kept: Vec<Latest>,
}

impl Default for Latest {
    fn default() -> Self {
        Latest {
            access: Access {
                index: deadheat_trace::EventIndex(0),
                event: Event::new(ThreadId(0), Op::Lost, 0, Pc::UNKNOWN),
            },
            time: 0,
        }
    }
}

/// What an access conflicts with.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind {
    writes: bool,
    atomic: bool,
}

impl Kind {
    fn of(event: &Event) -> Self {
        let op = event.op();
        Kind {
            writes: op.writes() || op == Op::Free,
            atomic: op.is_atomic(),
        }
    }

    fn conflicts_with(self, other: Kind) -> bool {
        (self.writes || other.writes) && !(self.atomic && other.atomic)
    }

    /// Whether everything that conflicts with the other conflicts with this one.
    fn stands_for(self, other: Kind) -> bool {
        let plain_write = self.writes && !self.atomic;
        plain_write
            || self == other
            || other
                == Kind {
                    writes: false,
                    atomic: true,
                }
    }
}

impl Latest {
    fn thread(&self) -> ThreadId {
        self.access.event.thread()
    }

    #[inline]
    fn is_known(&self, clock: &VectorClock) -> bool {
        self.time <= clock.get(self.thread())
    }

    #[inline]
    fn is_none_or_at(&self, pc: Pc) -> bool {
        self.time == 0 || self.access.event.pc() == pc
    }
}

impl Accesses {
    /// The same, where accesses of the usual number of places are kept.
    #[inline]
    pub fn add(&mut self, access: Access, clock: &VectorClock, race: &mut impl FnMut(Access)) {
        self.add_among(MOST, access, clock, race);
    }

    /// One more access, by a thread that has this clock: calls `race` for each one that is kept,
    /// conflicts with it and is not ordered before it. `most`: of how many places accesses are kept.
    #[inline]
    pub fn add_among(
        &mut self,
        most: usize,
        access: Access,
        clock: &VectorClock,
        race: &mut impl FnMut(Access),
    ) {
        let event = access.event;
        let time = clock.get(event.thread());
        let ordered =
            self.concurrent.is_none() && self.write.is_known(clock) && self.read.is_known(clock);
        match event.op() {
            Op::Read if ordered && self.read.is_none_or_at(event.pc()) => {
                self.read = Latest { access, time };
            }
            Op::Write if ordered && self.write.is_none_or_at(event.pc()) => {
                self.write = Latest { access, time };
            }
            _ => self.add_concurrent(Latest { access, time }, clock, most, race),
        }
    }

    /// How many bytes it holds outside itself.
    pub fn memory(&self) -> usize {
        let kept = |many: &Concurrent| size_of::<Concurrent>() + size_of_val(&many.kept[..]);
        self.concurrent.as_deref().map_or(0, kept)
    }

    #[inline(never)]
    fn add_concurrent(
        &mut self,
        new: Latest,
        clock: &VectorClock,
        most: usize,
        race: &mut impl FnMut(Access),
    ) {
        let (write, read) = (&mut self.write, &mut self.read);
        let concurrent = self.concurrent.get_or_insert_with(|| {
            let alone = [std::mem::take(write), std::mem::take(read)];
            let kept = alone.into_iter().filter(|latest| latest.time != 0);
            Box::new(Concurrent {
                kept: kept.collect(),
            })
        });
        let kept = &mut concurrent.kept;
        let (kind, thread, pc) = (
            Kind::of(&new.access.event),
            new.thread(),
            new.access.event.pc(),
        );
        let full = kept.len() >= most;
        let mut place = None;
        let mut at = 0;
        while let Some(old) = kept.get(at) {
            let old_kind = Kind::of(&old.access.event);
            if old.thread() != thread && !old.is_known(clock) {
                if kind.conflicts_with(old_kind) {
                    race(old.access);
                }
            } else if (old.access.event.pc() == pc || full) && kind.stands_for(old_kind) {
                if place.is_some() {
                    kept.swap_remove(at);
                    continue;
                }
                place = Some(at);
            }
            at += 1;
        }
        match place {
            Some(at) => kept[at] = new,
            None => kept.push(new),
        }
    }
}
