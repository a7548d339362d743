//! The critical sections of all threads, and what they ask of a cut.
//!
//! A section is *open* in a cut that has its beginning but not its end. If the cut also has the beginning
//! of a later section of the same lock that excludes it, its end must be in too. [`Sections::close`] adds
//! what is missing. Closed sections ask for nothing, so only those are looked at that are open at
//! the cut's edge: what a thread held at some point is found by its number of changes.

use std::rc::Rc;

use deadheat_trace::{LockId, ThreadId};
use smallvec::SmallVec;

use super::cut::{Cut, Point};
use super::numbered::Numbered;

/// All sections, as far as a cut may still have them open.
#[derive(Debug, Default)]
pub(super) struct Sections {
    threads: Vec<History>,
    locks: Vec<Lock>,
}

/// The sections of a thread.
#[derive(Debug, Default)]
struct History {
    sections: Numbered<Section>,
    /// Which sections are open, by the number of changes.
    open: Numbered<Open>,
}

type Open = SmallVec<[u32; 4]>;

#[derive(Debug)]
struct Section {
    lock: LockId,
    /// How many sections the lock had before.
    number: u32,
    shared: bool,
    end: Option<End>,
}

/// The end of a section: all that must be in if it is.
#[derive(Debug)]
struct End {
    cut: Rc<Cut>,
    point: Point,
}

/// When each thread took a lock.
#[derive(Debug, Default)]
struct Lock {
    sections: u32,
    /// Who holds it, not for reading.
    owner: Option<ThreadId>,
    exclusive: Vec<Vec<Taken>>,
    shared: Vec<Vec<Taken>>,
}

#[derive(Clone, Copy, Debug)]
struct Taken {
    /// The thread's changes, this one included.
    changes: u32,
    /// How many sections the lock had before.
    number: u32,
}

/// Of which threads a cut has become more, while it is closed.
#[derive(Debug, Default)]
pub(super) struct Changed {
    now: Marks,
    next: Marks,
}

#[derive(Debug, Default)]
struct Marks {
    threads: Vec<ThreadId>,
    is_marked: Vec<bool>,
}

impl Sections {
    /// A thread takes a lock; `point` is that after it. If another thread never gave the lock back, which it
    /// held not just for reading, that thread.
    pub fn begin(
        &mut self,
        thread: ThreadId,
        lock: LockId,
        shared: bool,
        point: Point,
    ) -> Option<ThreadId> {
        let state = grown(&mut self.locks, lock.index());
        let taken = Taken {
            changes: point.changes(),
            number: state.sections,
        };
        state.sections += 1;
        let by_thread = match shared {
            false => &mut state.exclusive,
            true => &mut state.shared,
        };
        grown(by_thread, thread.index()).push(taken);
        let left = match shared {
            false => state.owner.replace(thread),
            true => state.owner.take(),
        };
        let history = grown(&mut self.threads, thread.index());
        let mut open = history.now_open();
        open.push(history.sections.end());
        history.open.push(open);
        history.sections.push(Section {
            lock,
            number: taken.number,
            shared,
            end: None,
        });
        left
    }

    /// A thread gives a lock back; `point` is that after it, `cut` what must be in before it.
    pub fn end(
        &mut self,
        thread: ThreadId,
        lock: LockId,
        shared: bool,
        cut: Rc<Cut>,
        point: Point,
    ) {
        if !shared && let Some(state) = self.locks.get_mut(lock.index()) {
            state.owner = None;
        }
        let history = grown(&mut self.threads, thread.index());
        let mut open = history.now_open();
        let sections = &mut history.sections;
        let this = |number: &u32| {
            let section = sections.get(*number);
            section.is_some_and(|section| section.lock == lock && section.shared == shared)
        };
        if let Some(at) = open.iter().rposition(this) {
            let number = open.remove(at);
            if let Some(section) = sections.get_mut(number) {
                section.end = Some(End { cut, point });
            }
        }
        history.open.push(open);
    }

    /// Whether a thread, at an earlier point, held a lock that excludes a section which another
    /// thread has open now.
    #[inline]
    pub fn exclude(&self, thread: ThreadId, point: Point, other: ThreadId) -> bool {
        let earlier = self.open_at(thread, point);
        if earlier.is_empty() {
            return false;
        }
        let Some(history) = self.threads.get(other.index()) else {
            return false;
        };
        let now = history.open.last().into_iter().flatten();
        let now = now.filter_map(|number| history.sections.get(*number));
        now.into_iter().any(|now| {
            let earlier = earlier.iter().filter_map(|n| self.section(thread, *n));
            earlier.into_iter().any(|earlier| earlier.excludes(now))
        })
    }

    /// Adds the ends of all sections that must have ended if a section of `lock` has begun that
    /// excludes them.
    pub fn end_open(&self, lock: LockId, shared: bool, cut: &mut Cut, changed: &mut Changed) {
        for thread in 0..cut.threads() {
            let thread = ThreadId(thread as u32);
            for number in self.open_at(thread, cut.get(thread)) {
                if let Some(section) = self.section(thread, *number)
                    && section.lock == lock
                    && !(section.shared && shared)
                {
                    section.require_end(thread, cut, changed);
                }
            }
        }
    }

    /// Adds to a cut what its sections ask for, until nothing is missing. Only what asks for more because of
    /// the threads in `changed` is looked for: the cut was closed before that. Stops early if `thread` is
    /// in as far as `point`, and says so.
    pub fn close(
        &self,
        cut: &mut Cut,
        changed: &mut Changed,
        until: Option<(ThreadId, Point)>,
    ) -> bool {
        loop {
            if let Some((thread, point)) = until
                && cut.get(thread) >= point
            {
                return true;
            }
            if changed.next.threads.is_empty() {
                changed.now.clear();
                return false;
            }
            changed.now.clear();
            std::mem::swap(&mut changed.now, &mut changed.next);
            for thread in 0..cut.threads() {
                let thread = ThreadId(thread as u32);
                for number in self.open_at(thread, cut.get(thread)) {
                    if let Some(section) = self.section(thread, *number)
                        && self.is_followed(section, thread, cut, &changed.now)
                    {
                        section.require_end(thread, cut, changed);
                    }
                }
            }
        }
    }

    /// Whether a cut has a later section that excludes this one.
    fn is_followed(&self, section: &Section, thread: ThreadId, cut: &Cut, changed: &Marks) -> bool {
        let Some(lock) = self.locks.get(section.lock.index()) else {
            return false;
        };
        let follows = |other: ThreadId| {
            other != thread && lock.has_later(section, other, cut.get(other).changes())
        };
        if changed.has(thread) {
            (0..cut.threads()).any(|other| follows(ThreadId(other as u32)))
        } else {
            changed.threads.iter().any(|other| follows(*other))
        }
    }

    #[inline]
    fn open_at(&self, thread: ThreadId, point: Point) -> &[u32] {
        let history = self.threads.get(thread.index());
        let after = point.changes().checked_sub(1);
        let open = history
            .zip(after)
            .and_then(|(history, n)| history.open.get(n));
        open.map_or(&[], SmallVec::as_slice)
    }

    #[inline]
    fn section(&self, thread: ThreadId, number: u32) -> Option<&Section> {
        self.threads.get(thread.index())?.sections.get(number)
    }

    /// Forgets what no cut can have open that has at least `passed`.
    pub fn trim(&mut self, passed: &Cut) {
        for (thread, history) in self.threads.iter_mut().enumerate() {
            let passed = passed.get(ThreadId(thread as u32)).changes();
            history.open.trim_to(passed.saturating_sub(1));
            history.sections.trim_while(|section| {
                let end = section.end.as_ref();
                end.is_some_and(|end| end.point.changes() <= passed)
            });
        }
        for lock in &mut self.locks {
            for by_thread in [&mut lock.exclusive, &mut lock.shared] {
                for (thread, taken) in by_thread.iter_mut().enumerate() {
                    let passed = passed.get(ThreadId(thread as u32)).changes();
                    let before = taken.partition_point(|taken| taken.changes <= passed);
                    taken.drain(..before.saturating_sub(1));
                }
            }
        }
    }

    /// About how many bytes it holds.
    pub fn memory(&self) -> usize {
        let threads = self
            .threads
            .iter()
            .map(|history| history.open.memory() + history.sections.memory());
        let locks = self
            .locks
            .iter()
            .flat_map(|lock| lock.exclusive.iter().chain(&lock.shared));
        threads.sum::<usize>()
            + locks
                .map(|taken| taken.capacity() * size_of::<Taken>())
                .sum::<usize>()
    }
}

impl History {
    fn now_open(&self) -> Open {
        self.open.last().cloned().unwrap_or_default()
    }
}

impl Section {
    fn excludes(&self, other: &Section) -> bool {
        self.lock == other.lock && !(self.shared && other.shared)
    }

    /// The end must be in the cut. (In a damaged trace there may be none.)
    fn require_end(&self, thread: ThreadId, cut: &mut Cut, changed: &mut Changed) {
        if let Some(end) = &self.end {
            changed.add(cut, &end.cut, thread, end.point);
        }
    }
}

impl Lock {
    /// Whether a thread, within so many changes, took the lock after a section that this excludes.
    #[inline]
    fn has_later(&self, section: &Section, thread: ThreadId, changes: u32) -> bool {
        later(&self.exclusive, section.number, thread, changes)
            || !section.shared && later(&self.shared, section.number, thread, changes)
    }
}

#[inline]
fn later(by_thread: &[Vec<Taken>], number: u32, thread: ThreadId, changes: u32) -> bool {
    let Some(taken) = by_thread.get(thread.index()) else {
        return false;
    };
    match taken.last() {
        None => false,
        Some(last) if last.number <= number => false,
        Some(last) if last.changes <= changes => true,
        Some(_) => {
            let within = taken.partition_point(|taken| taken.changes <= changes);
            within > 0 && taken[within - 1].number > number
        }
    }
}

impl Changed {
    /// A thread is further than it was.
    pub fn mark(&mut self, thread: ThreadId) {
        self.next.add(thread);
    }

    /// Adds to a cut another one, and a thread up to a point, and marks of which threads there are more.
    #[inline]
    pub fn add(&mut self, cut: &mut Cut, other: &Cut, thread: ThreadId, point: Point) {
        cut.add(other, |more| self.next.add(more));
        if cut.reach(thread, point) {
            self.next.add(thread);
        }
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.next.threads.is_empty()
    }

    /// Forgets the marks: they were for a cut that is not needed.
    pub fn clear(&mut self) {
        self.now.clear();
        self.next.clear();
    }
}

impl Marks {
    fn add(&mut self, thread: ThreadId) {
        let marked = grown(&mut self.is_marked, thread.index());
        if !*marked {
            *marked = true;
            self.threads.push(thread);
        }
    }

    fn has(&self, thread: ThreadId) -> bool {
        self.is_marked.get(thread.index()).copied().unwrap_or(false)
    }

    fn clear(&mut self) {
        for thread in self.threads.drain(..) {
            self.is_marked[thread.index()] = false;
        }
    }
}

/// The item at an index; the list grows so that it is there.
#[inline]
fn grown<T: Default>(list: &mut Vec<T>, index: usize) -> &mut T {
    if index >= list.len() {
        list.resize_with(index + 1, T::default);
    }
    &mut list[index]
}
