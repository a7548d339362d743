//! Keeps the memory of a watched program within what the user allows (`memory=MB`).
//!
//! When the process has more, all shadow memory is given back: old accesses are forgotten, so
//! races with them are missed.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::{report, shadow};
use crate::{options, sys};

static DROPPED: AtomicU64 = AtomicU64::new(0);
static GROWN: AtomicUsize = AtomicUsize::new(0);
/// So many bytes are allocated or accessed in large pieces between two looks.
const STEP: usize = 16 << 20;

/// How often the shadow was dropped.
pub fn dropped() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

/// The program allocates, or accesses a large piece of memory.
pub fn grown(bytes: usize) {
    if GROWN.fetch_add(bytes, Ordering::Relaxed) > STEP {
        GROWN.store(0, Ordering::Relaxed);
        look();
    }
}

/// Looks how much memory the process has, and gives back what is too much.
#[cold]
pub fn look() {
    let limit = options::MEMORY.get().saturating_mul(256); // in pages
    if limit == 0 || resident_pages() <= limit {
        return;
    }
    shadow::clear_all();
    DROPPED.fetch_add(1, Ordering::Relaxed);
    report::note_once(
        &report::SHADOW_DROPPED,
        "the limit of memory was reached: accesses so far are forgotten (memory=MB sets the limit)",
    );
}

/// Pages that the process has in memory.
fn resident_pages() -> u64 {
    let file = sys::open(b"/proc/self/statm\0", libc::O_RDONLY | libc::O_CLOEXEC, 0);
    if file < 0 {
        return 0;
    }
    let mut text = [0; 128];
    let got = sys::read(file as i32, &mut text).max(0) as usize;
    sys::close(file as i32);
    let digits = text[..got]
        .split(|byte| *byte == b' ')
        .nth(1)
        .unwrap_or(&[]);
    digits.iter().fold(0, |sum, digit| {
        sum * 10 + u64::from(digit.wrapping_sub(b'0') % 10)
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_process_has_some_pages() {
        assert!((100..100_000_000).contains(&super::resident_pages()));
    }
}
