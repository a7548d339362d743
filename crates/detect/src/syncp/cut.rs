//! Cuts of a trace: for each thread, how much of it is in.

use deadheat_trace::ThreadId;

use crate::Clock;

/// How far a thread is: how many steps it has made, and above that how many of them began or
/// ended a critical section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Point(u64);

impl Point {
    /// How many sections the thread has begun and ended.
    #[inline]
    pub const fn changes(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// One step further.
    #[inline]
    pub const fn next(self) -> Point {
        Point(self.0 + 1)
    }

    /// One step further, which begins or ends a section.
    #[inline]
    pub const fn next_change(self) -> Point {
        Point(self.0 + 1 + (1 << 32))
    }
}

/// A set of steps that has, of every thread, all up to some point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cut {
    points: Vec<Point>,
}

impl Cut {
    /// How far a thread is in.
    #[inline]
    pub fn get(&self, thread: ThreadId) -> Point {
        self.points.get(thread.index()).copied().unwrap_or_default()
    }

    /// Sets how far a thread is in.
    #[inline]
    pub fn set(&mut self, thread: ThreadId, point: Point) {
        if thread.index() >= self.points.len() {
            self.points.resize(thread.index() + 1, Point::default());
        }
        self.points[thread.index()] = point;
    }

    /// How many threads have steps in it, at most.
    #[inline]
    pub fn threads(&self) -> usize {
        self.points.len()
    }

    /// Adds the steps of another cut; tells of which threads there are more now.
    #[inline]
    pub fn add(&mut self, other: &Cut, mut more: impl FnMut(ThreadId)) {
        if other.points.len() > self.points.len() {
            self.points.resize(other.points.len(), Point::default());
        }
        for (thread, (mine, theirs)) in self.points.iter_mut().zip(&other.points).enumerate() {
            if *theirs > *mine {
                *mine = *theirs;
                more(ThreadId(thread as u32));
            }
        }
    }

    /// Adds the steps of a thread up to a point; whether that are more.
    #[inline]
    pub fn reach(&mut self, thread: ThreadId, point: Point) -> bool {
        let more = self.get(thread) < point;
        if more {
            self.set(thread, point);
        }
        more
    }
}

impl Clock for Cut {
    fn start(_: ThreadId) -> Self {
        Cut::default()
    }

    fn join(&mut self, other: &Self) {
        self.add(other, |_| {});
    }

    fn copy_from(&mut self, other: &Self) {
        self.points.clone_from(&other.points);
    }

    /// Points are counted by the detector, step by step.
    fn advance(&mut self, _: ThreadId) {}

    fn memory(&self) -> usize {
        self.points.capacity() * size_of::<Point>()
    }
}
