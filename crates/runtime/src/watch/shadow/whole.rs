//! Entering a plain access to all eight bytes where at most two cells are in use, by accesses that are past:
//! what most pointers, long numbers and doubles have. It does what
//! [`enter_at_once`](super::enter_at_once) does, with fewer steps.

use core::sync::atomic::Ordering;

use super::{Cell, Cells, TIME_SHIFT, is_ordered};
use crate::watch::clock::Clock;

/// Where such an access goes.
pub struct Place {
    /// The number of its cell.
    at: usize,
    /// The second cell is for something that the access stands for.
    and_second: bool,
}

/// Looks for the cell of a plain access to all eight bytes; its context does not matter.
///
/// # Safety
/// `cells` are in the shadow.
#[inline(always)]
pub unsafe fn place_of_whole<const IS_WRITE: bool>(
    cells: *const Cells,
    new: Cell,
    clock: &Clock,
) -> Option<Place> {
    // SAFETY: as the caller says.
    let Cells(places) = unsafe { &*cells };
    let cell = |at: usize| Cell(places[at].load(Ordering::Relaxed));
    let (first, second) = (cell(0), cell(1));
    if cell(2).0 | cell(3).0 != 0 {
        return None;
    }
    // One of the same epoch may say all that there is to say.
    let is_past = |old: Cell| {
        let is_now = (old.0 ^ new.0) >> TIME_SHIFT == 0;
        !(is_now && (!IS_WRITE || old.writes())) && is_ordered(old, clock)
    };
    if !is_past(first) || !is_past(second) {
        return None;
    }
    // A read stands for reads only.
    let at = usize::from(!IS_WRITE && first.writes());
    if at == 1 && second.writes() {
        return None;
    }
    Some(Place {
        at,
        and_second: IS_WRITE && second.0 != 0,
    })
}

/// Enters the access there.
///
/// # Safety
/// As for `place_of_whole`.
#[inline(always)]
pub unsafe fn enter_whole(cells: *const Cells, new: Cell, place: Place) {
    // SAFETY: as the caller says.
    let Cells(places) = unsafe { &*cells };
    places[place.at & 1].store(new.0, Ordering::Relaxed);
    if place.and_second {
        places[1].store(0, Ordering::Relaxed);
    }
}
