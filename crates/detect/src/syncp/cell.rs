//! What is remembered about a cell of memory: its last write, and its accesses in a log for each kind.
//!
//! Every thread has a place in each log, behind what it has been held against. What does not race with it
//! then never will: a thread's cuts grow. Of each other thread and place in the program the first access that
//! does race is remembered, with the cut that shows it, and held against again: until it has come into the
//! cut, the later ones of the same thread and place need not be looked at.

use std::rc::Rc;

use deadheat_trace::{Event, Op, Pc, ThreadId};
use smallvec::SmallVec;

use super::cut::{Cut, Point};
use super::numbered::Numbered;
use super::sections::{Changed, Sections};
use crate::{Access, Clock};

/// The state of a cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    /// The last write: what reads it needs it.
    pub written: Option<Written>,
    logs: SmallVec<[Log; 2]>,
}

/// A write.
#[derive(Clone, Debug)]
pub(super) struct Written {
    /// Whose.
    pub thread: ThreadId,
    /// The point after it.
    pub point: Point,
    /// What must be in before it.
    pub cut: Rc<Cut>,
}

/// The accesses of one kind.
#[derive(Clone, Debug)]
struct Log {
    kind: Kind,
    past: Numbered<Past>,
    /// By thread.
    places: Vec<Place>,
    /// The furthest of the places.
    furthest: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    writes: bool,
    atomic: bool,
}

/// An access that later ones may race with.
#[derive(Clone, Debug)]
struct Past {
    access: Access,
    /// The point before it.
    point: Point,
    /// What must be in before it, apart from its own thread.
    cut: Rc<Cut>,
    source: Source,
    /// The number of the next one in the log from the same source.
    next: u32,
}

/// A thread, and a place in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Source {
    thread: ThreadId,
    place: Pc,
}

const NONE: u32 = u32::MAX;
/// How many places are told apart in the accesses of a thread to a cell; all others are one.
const PLACES: usize = 32;

/// What a thread has to do with a log.
#[derive(Clone, Debug, Default)]
struct Place {
    /// It has been held against all before.
    next: u32,
    /// What it races with: the first of each source.
    racing: SmallVec<[Racing; 1]>,
    /// Its own last access from each place.
    last: SmallVec<[(Pc, u32); 1]>,
}

#[derive(Clone, Debug)]
struct Racing {
    source: Source,
    number: u32,
    /// What must be in for both to be next.
    cut: Cut,
}

/// The access that is looked at.
pub(super) struct Present<'a> {
    /// The access.
    pub access: Access,
    /// The point before it.
    pub point: Point,
    /// What must be in before it, with its own thread.
    pub cut: &'a Cut,
    /// The same, to be kept; its own thread's point does not count.
    pub kept: &'a Rc<Cut>,
    /// All sections so far.
    pub sections: &'a Sections,
    /// What all threads have in their cuts.
    pub passed: &'a Cut,
    /// How many accesses a log holds at most.
    pub limit: u32,
}

/// Memory to work in.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    cut: Cut,
    changed: Changed,
}

impl Cell {
    /// Calls `race` for accesses that race with this one, the first of each source and kind. Then it is
    /// one of those that later ones may race with.
    #[inline]
    pub fn add(
        &mut self,
        present: &Present<'_>,
        scratch: &mut Scratch,
        mut race: impl FnMut(&Access),
    ) {
        let kind = Kind::of(&present.access.event);
        let mut own = None;
        for (at, log) in self.logs.iter_mut().enumerate() {
            if log.kind.conflicts_with(kind) {
                log.find(present, scratch, &mut race);
            }
            if log.kind == kind {
                own = Some(at);
            }
        }
        let own = own.unwrap_or_else(|| {
            self.logs.push(Log::new(kind));
            self.logs.len() - 1
        });
        self.logs[own].add(present);
    }

    /// About how many bytes it holds outside itself.
    pub fn memory(&self) -> usize {
        let place = |place: &Place| {
            let racing = place.racing.iter().map(|racing| racing.cut.memory());
            size_of::<Place>() + racing.sum::<usize>()
        };
        let log = |log: &Log| {
            let places: usize = log.places.iter().map(place).sum();
            log.past.memory() + places
        };
        self.logs.iter().map(log).sum()
    }
}

impl Kind {
    fn of(event: &Event) -> Self {
        Kind {
            writes: event.op().writes() || event.op() == Op::Free,
            atomic: event.op().is_atomic(),
        }
    }

    fn conflicts_with(self, other: Kind) -> bool {
        (self.writes || other.writes) && !(self.atomic && other.atomic)
    }
}

impl Written {
    /// A write that a thread makes at a point.
    pub fn new(thread: ThreadId, before: Point, cut: &Rc<Cut>) -> Self {
        Written {
            thread,
            point: before.next(),
            cut: Rc::clone(cut),
        }
    }
}

impl Log {
    fn new(kind: Kind) -> Self {
        Log {
            kind,
            past: Numbered::default(),
            places: Vec::new(),
            furthest: 0,
        }
    }

    #[inline]
    fn find(
        &mut self,
        present: &Present<'_>,
        scratch: &mut Scratch,
        race: &mut impl FnMut(&Access),
    ) {
        let thread = present.access.event.thread();
        if thread.index() >= self.places.len() {
            self.places.resize_with(thread.index() + 1, Place::default);
        }
        let Log { past, places, .. } = self;
        let Place { next, racing, .. } = &mut places[thread.index()];
        racing.retain(|racing| racing.goes_on(past, present, scratch, race));
        let end = past.end();
        for number in (*next).max(past.begin())..end {
            let Some(old) = past.get(number) else { break };
            let other = old.source.thread;
            if other == thread
                || present.cut.get(other) > old.point
                || present.sections.exclude(other, old.point, thread)
                || racing.iter().any(|racing| racing.source == old.source)
            {
                continue;
            }
            scratch.changed.clear();
            scratch.cut.copy_from(present.cut);
            if !old.is_in(present, scratch) {
                race(&old.access);
                racing.push(Racing {
                    source: old.source,
                    number,
                    cut: scratch.cut.clone(),
                });
            }
        }
        *next = end;
        self.furthest = end;
    }

    fn add(&mut self, present: &Present<'_>) {
        let thread = present.access.event.thread();
        if thread.index() >= self.places.len() {
            self.places.resize_with(thread.index() + 1, Place::default);
        }
        let end = self.past.end();
        let (place, last) = self.places[thread.index()].last_from(present.access.event.pc());
        let source = Source { thread, place };
        if let Some(past) = self.past.get_mut(*last) {
            // Between two accesses with the same cut in the same sections nothing is asked for: what
            // races with the first one races with the second one, unless it has passed the first already.
            if *last >= self.furthest
                && past.point.changes() == present.point.changes()
                && Rc::ptr_eq(&past.cut, present.kept)
            {
                past.access = present.access;
                past.point = present.point;
                return;
            }
            past.next = end;
        }
        *last = end;
        self.past.push(Past {
            access: present.access,
            point: present.point,
            cut: Rc::clone(present.kept),
            source,
            next: NONE,
        });
        let passed = present.passed;
        self.past
            .trim_while(|past| past.point < passed.get(past.source.thread));
        self.past.trim_to((end + 1).saturating_sub(present.limit));
    }
}

impl Place {
    /// The place that an access counts for, and the number of the thread's last access that does.
    fn last_from(&mut self, place: Pc) -> (Pc, &mut u32) {
        let known = |list: &[(Pc, u32)], place| list.iter().position(|(known, _)| *known == place);
        let (place, at) = match known(&self.last, place) {
            None if self.last.len() >= PLACES => (Pc::UNKNOWN, known(&self.last, Pc::UNKNOWN)),
            at => (place, at),
        };
        let at = at.unwrap_or_else(|| {
            self.last.push((place, NONE));
            self.last.len() - 1
        });
        (place, &mut self.last[at].1)
    }
}

impl Racing {
    /// Whether the log still has an access from the same source that races with the present one:
    /// this one, or the first later one that does.
    fn goes_on(
        &mut self,
        log: &Numbered<Past>,
        present: &Present<'_>,
        scratch: &mut Scratch,
        race: &mut impl FnMut(&Access),
    ) -> bool {
        if self.number < log.begin() {
            let same_source = |number: &u32| {
                let past = log.get(*number);
                past.is_some_and(|past| past.source == self.source)
            };
            let next = (log.begin()..log.end()).find(same_source);
            self.number = next.unwrap_or(NONE);
        }
        let mut started = false;
        while let Some(old) = log.get(self.number) {
            let (thread, point) = (present.access.event.thread(), old.point);
            let passed = present.cut.get(self.source.thread) > point
                || present.sections.exclude(self.source.thread, point, thread)
                || {
                    if !std::mem::replace(&mut started, true) {
                        self.start(present, scratch);
                    }
                    old.is_in(present, scratch)
                };
            if !passed {
                race(&old.access);
                std::mem::swap(&mut self.cut, &mut scratch.cut);
                return true;
            }
            self.number = old.next;
        }
        false
    }

    /// Begins with what was found to be needed before, and adds what the present access needs.
    fn start(&mut self, present: &Present<'_>, scratch: &mut Scratch) {
        let Scratch { cut, changed } = scratch;
        changed.clear();
        std::mem::swap(&mut self.cut, cut);
        let thread = present.access.event.thread();
        if present.point.changes() == cut.get(thread).changes() {
            // No section has begun: that the thread is further asks for nothing.
            cut.set(thread, present.point);
        }
        changed.add(cut, present.cut, thread, present.point);
    }
}

impl Past {
    /// Whether all that this access and the present one need includes this access; the cut has
    /// what the present one needs. Otherwise the cut has what both need.
    fn is_in(&self, present: &Present<'_>, scratch: &mut Scratch) -> bool {
        let Scratch { cut, changed } = scratch;
        let thread = self.source.thread;
        changed.add(cut, &self.cut, thread, self.point);
        let until = Some((thread, self.point.next()));
        present.sections.close(cut, changed, until)
    }
}
