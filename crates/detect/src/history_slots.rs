//! Places for the nodes and records of one history, in memory that grows.

use deadheat_history::{Linked, Slots};

const NONE: u32 = u32::MAX;
/// About how many bytes an allocation takes besides those asked for.
const ALLOCATION: usize = 16;

/// Numbered places, some of them free.
#[derive(Clone, Debug)]
pub(crate) struct VecSlots<T> {
    places: Vec<T>,
    free: u32,
    used: u32,
}

impl<T> Default for VecSlots<T> {
    fn default() -> Self {
        VecSlots {
            places: Vec::new(),
            free: NONE,
            used: 0,
        }
    }
}

impl<T> VecSlots<T> {
    /// How many places are not free.
    pub fn used(&self) -> u32 {
        self.used
    }

    /// About how many bytes it holds outside itself.
    pub fn memory(&self) -> usize {
        match self.places.capacity() {
            0 => 0,
            room => ALLOCATION + room * size_of::<T>(),
        }
    }
}

impl<T: Linked> Slots<T> for VecSlots<T> {
    #[inline]
    fn get(&self, at: u32) -> &T {
        &self.places[at as usize]
    }

    #[inline]
    fn get_mut(&mut self, at: u32) -> &mut T {
        &mut self.places[at as usize]
    }

    fn insert(&mut self, item: T) -> Option<u32> {
        self.used += 1;
        if self.free == NONE {
            if self.places.is_empty() {
                // Most histories are of one access.
                self.places.reserve_exact(1);
            }
            self.places.push(item);
            return Some(self.places.len() as u32 - 1);
        }
        let at = self.free;
        self.free = self.places[at as usize].link();
        self.places[at as usize] = item;
        Some(at)
    }

    fn remove(&mut self, at: u32) {
        self.places[at as usize].set_link(self.free);
        self.free = at;
        self.used -= 1;
    }

    fn has_room(&self, count: usize) -> bool {
        self.places.len() + count < NONE as usize
    }
}
