//! A ledger that several threads write into.
//!
//! ```
//! let ledger = ledger::Ledger::default();
//! std::thread::scope(|scope| {
//!     scope.spawn(|| ledger.book(3));
//!     scope.spawn(|| ledger.book(4));
//! });
//! assert_eq!(ledger.total(), 3);
//! ```

use std::cell::UnsafeCell;
use std::sync::Mutex;

include!(concat!(env!("OUT_DIR"), "/fee.rs"));

/// What was booked.
#[derive(Default)]
pub struct Ledger {
    total: Mutex<i64>,
    entries: UnsafeCell<u32>,
}

// SAFETY: this is the project's mistake: the number of entries is not protected.
unsafe impl Sync for Ledger {}

impl Ledger {
    /// Books an amount, less the fee.
    pub fn book(&self, amount: i64) {
        let amount = amount.min(ledger_macros::limit!());
        *self.total.lock().unwrap() += amount - FEE;
        // SAFETY: see above.
        unsafe { *self.entries.get() += 1 } // RACE: entries with itself
    }

    /// All of it.
    pub fn total(&self) -> i64 {
        *self.total.lock().unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_threads_book() {
        let ledger = Ledger::default();
        let both = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            for amount in [10, 1000] {
                let (ledger, both) = (&ledger, &both);
                scope.spawn(move || {
                    both.wait();
                    ledger.book(amount);
                });
            }
        });
        assert_eq!(ledger.total(), 106);
    }
}
