//! Which code is instrumented: `memcpy` and its like are also called by code that is not, whose
//! synchronisation is unseen, so that its accesses would look like races.
//!
//! An instrumented function tells that it is entered. So a call comes from instrumented code if its
//! pc is in the function that was entered last. Where functions begin is in every module's table
//! for unwinding (`.eh_frame_hdr`, sorted by address).

use core::sync::atomic::{AtomicUsize, Ordering};

const MOST: usize = 1024;

struct Module {
    start: AtomicUsize,
    end: AtomicUsize,
    table: AtomicUsize,
}

static MODULES: [Module; MOST] = [const {
    Module {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        table: AtomicUsize::new(0),
    }
}; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A module was loaded; `table` is where its `.eh_frame_hdr` is, 0 if it has none.
pub fn add_module(start: usize, end: usize, table: usize) {
    let at = COUNT.load(Ordering::Relaxed);
    if let Some(module) = MODULES.get(at) {
        module.start.store(start, Ordering::Relaxed);
        module.end.store(end, Ordering::Relaxed);
        module.table.store(table, Ordering::Relaxed);
        COUNT.store(at + 1, Ordering::Release);
    }
}

/// In a forked process: modules are told again.
pub fn forget() {
    COUNT.store(0, Ordering::Release);
}

/// The number of the module that holds an address, and where it begins.
pub fn module_of(addr: usize) -> Option<(u32, usize)> {
    let modules = &MODULES[..COUNT.load(Ordering::Acquire)];
    // The latest counts: a module may have been loaded where another was.
    let at = modules.iter().rposition(|module| {
        (module.start.load(Ordering::Relaxed)..module.end.load(Ordering::Relaxed)).contains(&addr)
    })?;
    Some((at as u32, modules[at].start.load(Ordering::Relaxed)))
}

/// Where the function around a pc begins; `None` if that is not known.
fn function_of(pc: usize) -> Option<usize> {
    let (module, _) = module_of(pc)?;
    let table = MODULES[module as usize].table.load(Ordering::Relaxed);
    // SAFETY: a loaded module's table, as long as it says itself.
    unsafe { (table != 0).then(|| search(table as *const u8, pc))? }
}

/// The largest start that is not above `pc`.
///
/// # Safety
/// `header` is a `.eh_frame_hdr` in memory.
unsafe fn search(header: *const u8, pc: usize) -> Option<usize> {
    /// Version 1; a pointer of four bytes, a count of four, pairs of four relative to the table.
    const USUAL: [u8; 4] = [1, 0x1B, 0x03, 0x3B];
    const ENTRIES: usize = 12;
    // SAFETY: as the caller says.
    unsafe {
        if header.cast::<[u8; 4]>().read_unaligned() != USUAL {
            return None;
        }
        let count = header.add(8).cast::<u32>().read_unaligned() as usize;
        let start = |at: usize| {
            let relative = header.add(ENTRIES + 8 * at).cast::<i32>().read_unaligned();
            (header as usize).wrapping_add_signed(relative as isize)
        };
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = (low + high) / 2;
            if start(middle) <= pc {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low > 0).then(|| start(low - 1))
    }
}

/// What was found out about calls: the pc, and whether it is instrumented in the lowest bit.
const KNOWN: usize = 4096;
static ANSWERS: [AtomicUsize; KNOWN] = [const { AtomicUsize::new(0) }; KNOWN];

/// Whether a call that returns to `pc` comes from instrumented code; `entered` is in the function
/// that was entered last, 0 if there is none.
pub fn is_instrumented(pc: usize, entered: usize) -> bool {
    let place = &ANSWERS[(pc >> 1 ^ pc >> 13) % KNOWN];
    let known = place.load(Ordering::Relaxed);
    if known >> 1 == pc {
        return known & 1 != 0;
    }
    // The call may be the function's last instruction.
    let answer = match (function_of(pc - 1), function_of(entered)) {
        (Some(caller), Some(function)) => caller == function,
        (None, Some(_)) | (Some(_), None) => false,
        (None, None) => entered != 0,
    };
    place.store(pc << 1 | usize::from(answer), Ordering::Relaxed);
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_any_of_their_addresses() {
        let mut header = vec![1, 0x1B, 0x03, 0x3B, 0, 0, 0, 0];
        header.extend(3u32.to_le_bytes());
        for start in [0x1000i32, 0x1100, 0x1200] {
            header.extend(start.to_le_bytes());
            header.extend(0i32.to_le_bytes());
        }
        let base = header.as_ptr() as usize;
        // SAFETY: a table of this form.
        let find = |pc: usize| unsafe { search(header.as_ptr(), base + pc) };
        assert_eq!(find(0xfff), None);
        assert_eq!(find(0x1000), Some(base + 0x1000));
        assert_eq!(find(0x11ff), Some(base + 0x1100));
        assert_eq!(find(0x9000), Some(base + 0x1200));
    }
}
