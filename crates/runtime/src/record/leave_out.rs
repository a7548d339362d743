//! Accesses that are not recorded, because the user does not want the functions that make them: from the file that
//! `DEADHEAT_LEAVE_OUT` names, see `deadheat_wire::leave_out`. In serial recordings only.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use deadheat_wire::leave_out::{LEAVE_OUT, MAGIC};

use crate::{message, options, sys};

/// The addresses, behind the file's first bytes; null if there are none.
static START: AtomicPtr<u64> = AtomicPtr::new(core::ptr::null_mut());
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// How far the program lies from where its file says.
static BIAS: AtomicUsize = AtomicUsize::new(0);

/// Reads the file, if there is one, when a recording begins.
pub fn load() {
    let Some(path) = options::LEAVE_OUT.path() else {
        return;
    };
    match map(path) {
        Some((start, count)) => {
            // SAFETY: the callback matches the C library's type and gets no data.
            unsafe { libc::dl_iterate_phdr(Some(visit_program), core::ptr::null_mut()) };
            START.store(start.cast_mut(), Ordering::Release);
            COUNT.store(count, Ordering::Release);
        }
        None => message::say(format_args!(
            "{LEAVE_OUT} cannot be read: everything is recorded"
        )),
    }
}

/// Whether the access is left out whose hook returns to `pc`.
#[inline]
pub fn has(pc: usize) -> bool {
    let count = COUNT.load(Ordering::Acquire);
    count > 0 && is_listed(pc, count)
}

#[cold]
fn is_listed(pc: usize, count: usize) -> bool {
    let start = START.load(Ordering::Relaxed);
    // SAFETY: as many numbers of the mapped file follow `start`, and it stays mapped.
    let listed = unsafe { core::slice::from_raw_parts(start, count) };
    let address = pc.wrapping_sub(BIAS.load(Ordering::Relaxed));
    listed.binary_search(&(address as u64)).is_ok()
}

/// The first that the loader names is the program itself.
unsafe extern "C" fn visit_program(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    _data: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes valid info for the duration of the call.
    let bias = unsafe { (*info).dlpi_addr };
    BIAS.store(bias as usize, Ordering::Relaxed);
    1
}

/// Maps a file that makes sense: where its numbers begin, and how many there are.
fn map(path: &[u8]) -> Option<(*const u64, usize)> {
    /// Far from everything else: addresses stay what they are without it.
    const PLACE: usize = 0x2100_0000_0000;
    let file = sys::open(path, libc::O_RDONLY | libc::O_CLOEXEC, 0);
    if file < 0 {
        return None;
    }
    let fd = file as usize;
    let bytes = sys::call(libc::SYS_lseek, [fd, 0, libc::SEEK_END as usize, 0, 0, 0]);
    let bytes = usize::try_from(bytes).unwrap_or(0);
    let flags = (libc::MAP_PRIVATE | libc::MAP_FIXED_NOREPLACE) as usize;
    let protection = libc::PROT_READ as usize;
    let place = sys::call(libc::SYS_mmap, [PLACE, bytes, protection, flags, fd, 0]);
    sys::close(file as i32);
    if place < 0 || bytes < MAGIC.len() {
        return None;
    }
    let start = place as *const u8;
    // SAFETY: at least that many bytes were just mapped, readable.
    let magic = unsafe { core::slice::from_raw_parts(start, MAGIC.len()) };
    // SAFETY: still within the file, and at a multiple of eight from a page's start.
    let numbers = unsafe { start.add(MAGIC.len()) }.cast();
    (magic == MAGIC).then_some((numbers, (bytes - MAGIC.len()) / size_of::<u64>()))
}
