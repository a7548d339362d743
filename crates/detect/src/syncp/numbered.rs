//! A list that keeps its numbers when its beginning is forgotten.

use std::collections::VecDeque;

/// Numbered from 0; the first ones may be gone.
#[derive(Clone, Debug)]
pub(super) struct Numbered<T> {
    gone: u32,
    items: VecDeque<T>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Numbered {
            gone: 0,
            items: VecDeque::new(),
        }
    }
}

impl<T> Numbered<T> {
    /// One more.
    pub fn push(&mut self, item: T) {
        self.items.push_back(item);
    }

    /// The number that the next one will have.
    pub fn end(&self) -> u32 {
        self.gone + self.items.len() as u32
    }

    /// The number of the first that is there.
    pub fn begin(&self) -> u32 {
        self.gone
    }

    /// The one with this number, unless it is gone.
    #[inline]
    pub fn get(&self, number: u32) -> Option<&T> {
        self.items.get(number.checked_sub(self.gone)? as usize)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.items.get_mut(number.checked_sub(self.gone)? as usize)
    }

    /// The last one.
    pub fn last(&self) -> Option<&T> {
        self.items.back()
    }

    /// Lets all before a number go.
    pub fn trim_to(&mut self, number: u32) {
        let count = number
            .saturating_sub(self.gone)
            .min(self.items.len() as u32);
        self.items.drain(..count as usize);
        self.gone += count;
    }

    /// Lets the first ones go for as long as they may.
    pub fn trim_while(&mut self, may_go: impl Fn(&T) -> bool) {
        while self.items.front().is_some_and(&may_go) {
            self.items.pop_front();
            self.gone += 1;
        }
    }

    /// How many bytes it holds, without what the items hold.
    pub fn memory(&self) -> usize {
        self.items.capacity() * size_of::<T>()
    }
}
