//! Where nodes and records lie: numbered places that are used again.

/// The number of no place.
pub(crate) const NONE: u32 = u32::MAX;

/// Something that can be in a chain: it has room for a number.
pub trait Linked: Copy {
    /// The number of the next in the chain.
    fn link(&self) -> u32;
    /// Changes it.
    fn set_link(&mut self, next: u32);
}

/// Numbered places.
pub trait Slots<T: Linked> {
    /// What lies at a number that was handed out.
    fn get(&self, at: u32) -> &T;

    /// The same, to be changed.
    fn get_mut(&mut self, at: u32) -> &mut T;

    /// Puts something somewhere; `None` if there is no more room.
    fn insert(&mut self, item: T) -> Option<u32>;

    /// Frees a place.
    fn remove(&mut self, at: u32);

    /// Whether so many can be put somewhere.
    fn has_room(&self, count: usize) -> bool;
}

/// Places in a part of memory that never grows.
///
/// ```
/// use deadheat_history::{Access, History, Node, Options, Outcome, Record, SliceSlots, Store};
///
/// let mut nodes = [Node::EMPTY; 16];
/// let mut records = [Record::EMPTY; 16];
/// let mut store = Store {
///     nodes: SliceSlots::new(&mut nodes),
///     records: SliceSlots::new(&mut records),
/// };
/// let mut history = History::new();
/// let write = |thread| Access { thread, time: 1, writes: true, holds: &[], payload: () };
/// let options = Options::PAPER;
/// let nobody_knows = |_thread| 0;
/// let first = history.add(&mut store, &write(0), &options, nobody_knows, |_| {});
/// assert!(first.remembered && !first.race);
/// let second = history.add(&mut store, &write(1), &options, nobody_knows, |earlier| {
///     assert_eq!(earlier.thread, 0);
/// });
/// assert!(second.race);
/// ```
#[derive(Debug)]
pub struct SliceSlots<'a, T> {
    places: &'a mut [T],
    /// The first free place of those that were in use.
    free: u32,
    /// How many of those there are.
    freed: usize,
    /// How many places were ever in use.
    used: usize,
}

impl<'a, T: Linked> SliceSlots<'a, T> {
    /// All places are free.
    pub fn new(places: &'a mut [T]) -> Self {
        SliceSlots {
            places,
            free: NONE,
            freed: 0,
            used: 0,
        }
    }
}

impl<T: Linked> Slots<T> for SliceSlots<'_, T> {
    #[inline]
    fn get(&self, at: u32) -> &T {
        &self.places[at as usize]
    }

    #[inline]
    fn get_mut(&mut self, at: u32) -> &mut T {
        &mut self.places[at as usize]
    }

    fn insert(&mut self, item: T) -> Option<u32> {
        let at = if self.free != NONE {
            let at = self.free;
            self.free = self.places[at as usize].link();
            self.freed -= 1;
            at
        } else if self.used < self.places.len().min(NONE as usize) {
            self.used += 1;
            self.used as u32 - 1
        } else {
            return None;
        };
        self.places[at as usize] = item;
        Some(at)
    }

    fn remove(&mut self, at: u32) {
        self.places[at as usize].set_link(self.free);
        self.free = at;
        self.freed += 1;
    }

    fn has_room(&self, count: usize) -> bool {
        self.places.len().min(NONE as usize) - self.used + self.freed >= count
    }
}
