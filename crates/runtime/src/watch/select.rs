//! The places that the detailed mode looks at, from the file that `DEADHEAT_SELECT` names: one on
//! each line, as `place` lines of a report have them.

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use deadheat_wire::watch::Place;

use super::context::Context;
use super::{code, detailed};
use crate::{memory, sys};

const MOST: usize = 1 << 16;
const MOST_BYTES: usize = 4 << 20;

static PLACES: AtomicPtr<Place> = AtomicPtr::new(core::ptr::null_mut());
static COUNT: AtomicUsize = AtomicUsize::new(0);
static ON: AtomicBool = AtomicBool::new(false);

/// Whether only some places are looked at.
#[inline]
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

fn places() -> &'static [Place] {
    let start = PLACES.load(Ordering::Acquire);
    let count = COUNT.load(Ordering::Acquire);
    if start.is_null() {
        return &[];
    }
    // SAFETY: so many were written by `read`, and the pages stay.
    unsafe { core::slice::from_raw_parts(start, count) }
}

/// Reads the file at `path`, which ends with a zero byte; false if that fails.
pub fn read(path: &[u8]) -> bool {
    let file = sys::open(path, libc::O_RDONLY | libc::O_CLOEXEC, 0);
    let text: *mut u8 = memory::pages(MOST_BYTES);
    let start: *mut Place = memory::pages(MOST);
    if file < 0 || text.is_null() || start.is_null() {
        return false;
    }
    // SAFETY: MOST_BYTES were just mapped, and nobody else knows of them.
    let bytes = unsafe { core::slice::from_raw_parts_mut(text, MOST_BYTES) };
    let mut len = 0;
    while len < MOST_BYTES {
        match sys::read(file as i32, &mut bytes[len..]) {
            got if got > 0 => len += got as usize,
            _ => break,
        }
    }
    sys::close(file as i32);
    let mut count = 0;
    for line in bytes[..len].split(|byte| *byte == b'\n') {
        let place = core::str::from_utf8(line).ok().and_then(Place::parse);
        if let Some(place) = place.filter(|_| count < MOST) {
            // SAFETY: within the pages.
            unsafe { start.add(count).write(place) };
            count += 1;
        }
    }
    COUNT.store(count, Ordering::Release);
    PLACES.store(start, Ordering::Release);
    ON.store(true, Ordering::Release);
    true
}

/// A module was loaded: its selected words are looked at from now on.
pub fn module_loaded(start: usize) {
    let Some((number, _)) = code::module_of(start) else {
        return;
    };
    for place in places() {
        if let Place::Global { module, offset } = *place
            && module == number
        {
            detailed::select_word(start + offset as usize);
        }
    }
}

/// A block was allocated in a context.
pub fn block_allocated(start: usize, bytes: usize, context: u32) {
    if !is_on() {
        return;
    }
    let pc = Context::of(context).pc as usize;
    let Some((number, base)) = code::module_of(pc) else {
        return;
    };
    for place in places() {
        if let Place::Heap {
            module,
            call,
            offset,
        } = *place
            && (module, call) == (number, (pc - base) as u64)
            && (offset as usize) < bytes
        {
            detailed::select_word(start + offset as usize);
        }
    }
}

/// A thread with this stack begins.
pub fn thread_begins(number: u32, top: usize) {
    for place in places() {
        if let Place::Stack { thread, below } = *place
            && thread == number
        {
            detailed::select_word(top - below as usize);
        }
    }
}
