//! What is remembered about a cell of memory: its accesses, and which of them each thread has yet to
//! come after.
//!
//! The accesses of one thread and kind are a *track*. Every other thread has a place in it: the first
//! access that its cut does not have. Cuts grow, so places only move forward, and all threads share one track.

use std::rc::Rc;

use deadheat_trace::{Event, Op, ThreadId};

use super::cut::{Cut, Point};
use super::numbered::Numbered;
use super::sections::{Changed, Sections};
use crate::Access;

/// The state of a cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    /// The last write: what reads it needs it.
    pub written: Option<Written>,
    tracks: Vec<Track>,
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

/// An access that later ones may race with.
#[derive(Clone, Debug)]
struct Past {
    access: Access,
    /// The point before it.
    point: Point,
    /// What must be in before it, apart from its own thread.
    cut: Rc<Cut>,
}

/// The accesses of one thread and kind.
#[derive(Clone, Debug)]
struct Track {
    thread: ThreadId,
    kind: Kind,
    past: Numbered<Past>,
    places: Vec<Place>,
    /// The furthest of the places.
    furthest: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    writes: bool,
    atomic: bool,
}

/// How far a thread has come in a track.
#[derive(Clone, Debug, Default)]
struct Place {
    next: u32,
    /// What must be in for the next one and the thread's last access to race, which they do.
    racing: Option<Box<Cut>>,
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
    /// How many accesses a track holds at most.
    pub limit: u32,
}

/// Memory to work in.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    cut: Cut,
    changed: Changed,
}

impl Cell {
    /// Calls `race` for accesses that race with this one, the first of each thread and kind.
    #[inline]
    pub fn find(
        &mut self,
        present: &Present<'_>,
        scratch: &mut Scratch,
        mut race: impl FnMut(&Access),
    ) {
        let event = &present.access.event;
        let kind = Kind::of(event);
        for track in &mut self.tracks {
            if track.thread != event.thread() && track.kind.conflicts_with(kind) {
                track.find(present, scratch, &mut race);
            }
        }
    }

    /// The access is one that later ones may race with.
    pub fn add(&mut self, present: &Present<'_>) {
        let event = &present.access.event;
        let (thread, kind) = (event.thread(), Kind::of(event));
        let same = |track: &Track| track.thread == thread && track.kind == kind;
        let at = self.tracks.iter().position(same).unwrap_or_else(|| {
            self.tracks.push(Track::new(thread, kind));
            self.tracks.len() - 1
        });
        self.tracks[at].add(present);
    }

    /// About how many bytes it holds outside itself.
    pub fn memory(&self) -> usize {
        let track = |track: &Track| {
            let cuts = track.places.iter().flat_map(|place| &place.racing);
            let cuts = cuts.map(|cut| size_of::<Cut>() + crate::Clock::memory(&**cut));
            track.past.memory() + track.places.capacity() * size_of::<Place>() + cuts.sum::<usize>()
        };
        self.tracks.capacity() * size_of::<Track>() + self.tracks.iter().map(track).sum::<usize>()
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

impl Track {
    fn new(thread: ThreadId, kind: Kind) -> Self {
        Track {
            thread,
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
        let place = &mut self.places[thread.index()];
        place.next = place.next.max(self.past.begin());
        let end = self.past.end();
        if place.next == end {
            return;
        }
        let known = present.cut.get(self.thread);
        let mut started = false;
        while let Some(past) = self.past.get(place.next) {
            let passed = past.point < known
                || present.sections.exclude(self.thread, past.point, thread)
                || {
                    if !started {
                        place.start(present, scratch);
                        started = true;
                    }
                    past.is_in_with(present, self.thread, scratch)
                };
            if !passed {
                race(&past.access);
                let cut = place.racing.get_or_insert_default();
                std::mem::swap(&mut **cut, &mut scratch.cut);
                self.furthest = self.furthest.max(place.next);
                return;
            }
            place.next += 1;
        }
        scratch.changed.clear();
        place.racing = None;
        self.furthest = self.furthest.max(place.next);
    }

    fn add(&mut self, present: &Present<'_>) {
        let past = Past {
            access: present.access,
            point: present.point,
            cut: Rc::clone(present.kept),
        };
        // Between two accesses with the same cut in the same sections nothing is asked for: what
        // races with the first one races with the second one, unless it has passed the first already.
        let end = self.past.end();
        if self.furthest < end
            && let Some(last) = self.past.last_mut()
            && last.point.changes() == past.point.changes()
            && Rc::ptr_eq(&last.cut, &past.cut)
        {
            *last = past;
            return;
        }
        self.past.push(past);
        let passed = present.passed.get(self.thread);
        self.past.trim_while(|past| past.point < passed);
        self.past
            .trim_to(self.past.end().saturating_sub(present.limit));
    }
}

impl Place {
    /// Begins with the cut of the present access, and what was found to be needed before.
    fn start(&mut self, present: &Present<'_>, scratch: &mut Scratch) {
        scratch.changed.clear();
        match &mut self.racing {
            None => crate::Clock::copy_from(&mut scratch.cut, present.cut),
            Some(before) => {
                std::mem::swap(&mut **before, &mut scratch.cut);
                let thread = present.access.event.thread();
                let changes = scratch.cut.get(thread).changes();
                if present.point.changes() == changes {
                    // No section has begun: that the thread is further asks for nothing.
                    scratch.cut.set(thread, present.point);
                }
                let Scratch { cut, changed } = scratch;
                changed.add(cut, present.cut, thread, present.point);
            }
        }
    }
}

impl Past {
    /// Whether all that this access and the present one need includes this access. Takes it into
    /// the cut otherwise.
    fn is_in_with(&self, present: &Present<'_>, thread: ThreadId, scratch: &mut Scratch) -> bool {
        let Scratch { cut, changed } = scratch;
        changed.add(cut, &self.cut, thread, self.point);
        present
            .sections
            .close(cut, changed, Some((thread, self.point.next())))
    }
}
