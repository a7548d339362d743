//! Which orders of synchronisation runs have shown: pairs of places of two threads that used the same object one
//! right after the other. When more runs bring no new ones, more of them will hardly find more.
//!
//! Of places that take a lock, or do something atomic, it is told besides how many pairs were seen in both orders. That some were not may
//! have a reason in the program, or in the runs.

use std::path::Path;

use deadheat_run::input;
use deadheat_session::error::Result;
use deadheat_trace::{Op, Pc, Steps, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The orders seen so far.
#[derive(Default)]
pub struct Coverage {
    pairs: FxHashSet<[Pc; 2]>,
    /// The same of those only that could come in either order.
    either: FxHashSet<[Pc; 2]>,
}

/// Pairs of different places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Both {
    /// How many there are.
    pub pairs: u64,
    /// How many of them were seen in both orders.
    pub seen: u64,
}

impl Coverage {
    /// Takes in a trace; how many orders are new.
    pub fn add(&mut self, path: &Path) -> Result<u64> {
        let before = self.pairs.len();
        let mut last: FxHashMap<(bool, u64), (ThreadId, Pc)> = FxHashMap::default();
        let mut last_of_either = last.clone();
        let mut steps = input::open(path)?;
        while let Some(step) = steps
            .next_step()
            .map_err(|error| input::broken(path, &error))?
        {
            let event = &step.event;
            if !orders(event.op()) {
                continue;
            }
            let object = (event.op().is_atomic(), event.target());
            let now = (event.thread(), event.pc());
            if let Some((thread, place)) = last.insert(object, now)
                && thread != now.0
            {
                self.pairs.insert([place, now.1]);
            }
            if (event.op().is_atomic() || matches!(event.op(), Op::Acquire | Op::ReadAcquire))
                && let Some((thread, place)) = last_of_either.insert(object, now)
                && thread != now.0
                && place != now.1
            {
                self.either.insert([place, now.1]);
            }
        }
        Ok((self.pairs.len() - before) as u64)
    }

    /// How many pairs of places that take locks or do something atomic were seen in both orders.
    pub fn both(&self) -> Both {
        let is_both = |[one, other]: &[Pc; 2]| self.either.contains(&[*other, *one]);
        let twice = self.either.iter().filter(|pair| is_both(pair)).count() as u64;
        Both {
            pairs: self.either.len() as u64 - twice / 2,
            seen: twice / 2,
        }
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.pairs.len() as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Whether something is part of an order between threads that may be another in another run.
fn orders(op: Op) -> bool {
    op.is_atomic()
        || matches!(
            op,
            Op::Acquire
                | Op::Release
                | Op::ReadAcquire
                | Op::ReadRelease
                | Op::Refused
                | Op::ReadRefused
                | Op::Wait
                | Op::Wake
                | Op::Timeout
                | Op::Notify
                | Op::NotifyAll
                | Op::BarrierEnter
                | Op::Post
                | Op::Take
                | Op::TakeRefused
                | Op::Send
                | Op::Receive
                | Op::ReceiveRefused
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_counted_once() {
        let folder = tempfile::tempdir().unwrap();
        let trace = |name: &str, text: &str| {
            let path = folder.path().join(name);
            // The same places have the same numbers in both.
            let places = "T2|w(x)|1\nT2|w(x)|2\nT2|w(x)|3\nT2|w(x)|4\n";
            std::fs::write(&path, format!("{places}{text}")).unwrap();
            path
        };
        let one = "T0|acq(m)|1\nT0|rel(m)|2\nT1|acq(m)|3\nT1|rel(m)|4\nT1|acq(m)|3\n";
        let other = "T1|acq(m)|3\nT1|rel(m)|4\nT0|acq(m)|1\nT0|rel(m)|2\n";
        let mut coverage = Coverage::default();
        assert_eq!(coverage.add(&trace("a", one)).unwrap(), 1);
        assert_eq!(coverage.add(&trace("b", one)).unwrap(), 0);
        assert_eq!(coverage.both(), Both { pairs: 1, seen: 0 });
        assert_eq!(coverage.add(&trace("c", other)).unwrap(), 1);
        assert_eq!(coverage.len(), 2);
        assert_eq!(coverage.both(), Both { pairs: 1, seen: 1 });
    }
}
