//! Which code of the program has hooks.
//!
//! The functions that we stand in for are called by all code. What code without hooks does to
//! synchronise is not seen (Rust's standard library is such), so its copies and releases of memory
//! are not judged. The tool knows the functions with hooks from the program's file and leaves a
//! table beside the report; without one, all is judged. Libraries are not in it.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use deadheat_wire::watch::CODE;
use deadheat_wire::watch::code::{BUILD_ID, Header, MAGIC};

use crate::options::MAX_PATH;
use crate::sys;

/// The table as it lies in memory; 0 if there is none.
static TABLE: AtomicUsize = AtomicUsize::new(0);
/// The program's range in memory, and what was added to its addresses; an empty range as long as
/// there is no table for it.
static START: AtomicU64 = AtomicU64::new(0);
static END: AtomicU64 = AtomicU64::new(0);
static BIAS: AtomicU64 = AtomicU64::new(0);

/// Finds the table beside the report at `path`.
pub fn start(path: &[u8]) {
    let mut name = [0; MAX_PATH];
    let length = path.len() + CODE.len();
    if length >= MAX_PATH {
        return;
    }
    name[..path.len()].copy_from_slice(path);
    name[path.len()..length].copy_from_slice(CODE.as_bytes());
    let file = sys::open(&name[..=length], libc::O_RDWR | libc::O_CLOEXEC, 0);
    if file < 0 {
        return;
    }
    let bytes = sys::call(
        libc::SYS_lseek,
        [file as usize, 0, libc::SEEK_END as usize, 0, 0, 0],
    );
    if bytes as usize >= size_of::<Header>() && bytes > 0 {
        let table = sys::map(bytes as usize, file as i32, 0);
        // SAFETY: as many bytes as the file has are mapped, at least a header.
        if !table.is_null() && is_table(unsafe { &*table.cast() }, bytes as usize) {
            TABLE.store(table as usize, Ordering::Release);
        }
    }
    sys::close(file as i32);
}

fn is_table(header: &Header, bytes: usize) -> bool {
    let room = (bytes - size_of::<Header>()) / size_of::<[u64; 2]>();
    header.magic == MAGIC && header.count as usize <= room
}

/// The table, if there is one.
fn table() -> Option<(&'static Header, &'static [[u64; 2]])> {
    let header = TABLE.load(Ordering::Acquire) as *const Header;
    // SAFETY: what `start` has mapped and found to be a table stays.
    unsafe {
        let header = header.as_ref()?;
        let ranges = (&raw const *header).add(1).cast();
        Some((
            header,
            core::slice::from_raw_parts(ranges, header.count as usize),
        ))
    }
}

/// A module is at this range; the first is the program itself.
pub fn module([start, end, bias]: [u64; 3], build_id: &[u8]) {
    if START.load(Ordering::Relaxed) != 0 {
        return;
    }
    START.store(start, Ordering::Relaxed);
    let Some((header, _)) = table() else { return };
    let mut expected = [0; BUILD_ID];
    let length = build_id.len().min(BUILD_ID);
    expected[..length].copy_from_slice(&build_id[..length]);
    if header.build_id == expected {
        BIAS.store(bias, Ordering::Relaxed);
        END.store(end, Ordering::Release);
    }
}

/// Whether a call that returns to `pc` was made by code without hooks.
pub fn is_unseen(pc: usize) -> bool {
    let pc = pc as u64;
    if pc >= END.load(Ordering::Acquire) || pc < START.load(Ordering::Relaxed) {
        return false;
    }
    let Some((_, hooked)) = table() else {
        return false;
    };
    let address = pc
        .wrapping_sub(BIAS.load(Ordering::Relaxed))
        .wrapping_sub(1);
    let after = hooked.partition_point(|range| range[0] <= address);
    let function = after.checked_sub(1).and_then(|at| hooked.get(at));
    function.is_none_or(|range| address >= range[1])
}
