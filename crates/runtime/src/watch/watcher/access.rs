//! The way of a watched access from its hook to the shadow.
//!
//! What is met every time is here, once for every kind and size; whatever is not ends in a function
//! that does it all ([`access_otherwise`]), by a jump, so that the common way needs no stack.

use deadheat_wire::word::WRITE1;

use super::{OFTEN, mask};
use crate::local::Local;
use crate::watch::shadow::{self, Cell};
use crate::watch::simple;

/// An access that the filter does not have, of `1 << SHIFT` bytes.
///
/// # Safety
/// Called by the program before its access; `local` is the running thread's, which is watched.
#[inline(always)]
pub unsafe fn access<const KIND: u64, const SHIFT: u32>(local: *mut Local, addr: usize, pc: usize) {
    // SAFETY: as the caller says; the processor can, as `wide` says.
    unsafe {
        if (*(*local).watcher).wide {
            if SHIFT == 3 {
                return access_whole::<KIND>(local, addr, pc);
            }
            access_at_once::<KIND, SHIFT>(local, addr, pc)
        } else if (*(*local).watcher).simple {
            access_simply::<KIND, SHIFT>(local, addr, pc)
        } else {
            access_otherwise(local, addr, 1 << SHIFT, KIND >= WRITE1, pc)
        }
    }
}

/// The same for eight bytes.
///
/// # Safety
/// As for `access_at_once`.
#[inline(never)]
unsafe fn access_whole<const KIND: u64>(local: *mut Local, addr: usize, pc: usize) {
    // SAFETY: as the caller says; every address of the program has cells.
    unsafe {
        let watcher = &mut *(*local).watcher;
        let write = KIND >= WRITE1;
        if watcher.released || addr & 7 != 0 {
            return access_otherwise(local, addr, 8, write, pc);
        }
        let cells = shadow::cells(addr);
        let nowhere = Cell::new(watcher.epoch, 0xFF, write, false, 0);
        let place = match write {
            true => shadow::place_of_whole::<true>(cells, nowhere, &watcher.clock),
            false => shadow::place_of_whole::<false>(cells, nowhere, &watcher.clock),
        };
        let Some(place) = place else {
            return access_at_once::<KIND, 3>(local, addr, pc);
        };
        let checked = watcher.checked + 1;
        let Some(context) = watcher.known_context(local, pc) else {
            return access_otherwise(local, addr, 8, write, pc);
        };
        if checked.is_multiple_of(OFTEN) {
            return access_otherwise(local, addr, 8, write, pc);
        }
        watcher.checked = checked;
        shadow::enter_whole(cells, nowhere.at(context), place)
    }
}

/// The same if the processor can look at all cells at once.
///
/// # Safety
/// As for `access`; `wide` is set.
#[target_feature(enable = "avx2,bmi1")]
#[inline(never)]
unsafe fn access_at_once<const KIND: u64, const SHIFT: u32>(
    local: *mut Local,
    addr: usize,
    pc: usize,
) {
    // SAFETY: as the caller says; every address of the program has cells.
    unsafe {
        let watcher = &mut *(*local).watcher;
        let (size, write) = (1 << SHIFT, KIND >= WRITE1);
        if watcher.released || (addr & 7) + size > 8 {
            return access_otherwise(local, addr, size, write, pc);
        }
        let cells = shadow::cells(addr);
        let nowhere = Cell::new(watcher.epoch, mask(addr, size), write, false, 0);
        if shadow::is_said(cells, nowhere) {
            return;
        }
        let checked = watcher.checked + 1;
        let Some(context) = watcher.known_context(local, pc) else {
            return access_otherwise(local, addr, size, write, pc);
        };
        if checked.is_multiple_of(OFTEN) {
            return access_otherwise(local, addr, size, write, pc);
        }
        watcher.checked = checked;
        let new = nowhere.at(context);
        let (clock, luck) = (&watcher.clock, &mut watcher.luck);
        let entered = if write {
            shadow::enter_at_once::<true>(cells, new, clock, luck)
        } else {
            shadow::enter_at_once::<false>(cells, new, clock, luck)
        };
        if !entered {
            watcher.look_closer(addr, new, size)
        }
    }
}

/// The same in the simple mode.
///
/// # Safety
/// As for `access`; `simple` is set.
#[inline(always)]
pub unsafe fn access_simply<const KIND: u64, const SHIFT: u32>(
    local: *mut Local,
    addr: usize,
    pc: usize,
) {
    let (size, write) = (1 << SHIFT, KIND >= WRITE1);
    // SAFETY: as the caller says.
    let watcher = unsafe { &*(*local).watcher };
    let is_settled = match size {
        8 => addr & 3 == 0 && simple::is_settled::<2>(watcher, addr, write),
        _ => (addr & 3) + size <= 4 && simple::is_settled::<1>(watcher, addr, write),
    };
    if !is_settled {
        // SAFETY: as the caller says.
        unsafe { access_otherwise(local, addr, size, write, pc) }
    }
}

/// The same in general.
///
/// # Safety
/// As for `access`.
#[inline(never)]
unsafe fn access_otherwise(local: *mut Local, addr: usize, size: usize, write: bool, pc: usize) {
    // SAFETY: as the caller says.
    unsafe {
        let watcher = &mut *(*local).watcher;
        if watcher.by_word {
            return watcher.access_words(local, addr, size, write, pc);
        }
        watcher.checked += 1;
        if watcher.released || watcher.checked.is_multiple_of(OFTEN) {
            watcher.now_and_then(local);
        }
        let context = watcher.context(local, pc);
        watcher.access_parts(addr, size, write, context);
    }
}
