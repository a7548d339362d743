//! Places of the program that the tool has listed in a file: its first eight bytes, and addresses in the program's file in rising
//! order.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::sys;

/// Where files are mapped to, far from everything else: addresses stay what they are without them.
pub const LEAVE_OUT: usize = 0x2100_0000_0000;
/// The same for [`super::points`].
pub const POINTS: usize = 0x2200_0000_0000;

/// How far the program lies from where its file says.
static BIAS: AtomicUsize = AtomicUsize::new(0);

/// A list of places.
pub struct Listed {
    /// The addresses, behind the file's first bytes; null if there are none.
    start: AtomicPtr<u64>,
    count: AtomicUsize,
}

impl Listed {
    /// No places.
    pub const fn none() -> Self {
        Listed {
            start: AtomicPtr::new(core::ptr::null_mut()),
            count: AtomicUsize::new(0),
        }
    }

    /// Maps a file that begins with `magic`; whether it could be read.
    pub fn load(&self, path: &[u8], magic: [u8; 8], place: usize) -> bool {
        let Some((start, count)) = map(path, magic, place) else {
            return false;
        };
        // SAFETY: the callback matches the C library's type and gets no data.
        unsafe { libc::dl_iterate_phdr(Some(visit_program), core::ptr::null_mut()) };
        self.start.store(start.cast_mut(), Ordering::Release);
        self.count.store(count, Ordering::Release);
        true
    }

    /// Whether a place is listed.
    #[inline]
    pub fn has(&self, pc: usize) -> bool {
        let count = self.count.load(Ordering::Acquire);
        count > 0 && self.is_listed(pc, count)
    }

    #[cold]
    fn is_listed(&self, pc: usize, count: usize) -> bool {
        let start = self.start.load(Ordering::Relaxed);
        // SAFETY: as many numbers of the mapped file follow `start`, and it stays mapped.
        let listed = unsafe { core::slice::from_raw_parts(start, count) };
        let address = pc.wrapping_sub(BIAS.load(Ordering::Relaxed));
        listed.binary_search(&(address as u64)).is_ok()
    }
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

/// Maps a file that makes sense to a place: where its numbers begin, and how many there are.
fn map(path: &[u8], magic: [u8; 8], place: usize) -> Option<(*const u64, usize)> {
    let file = sys::open(path, libc::O_RDONLY | libc::O_CLOEXEC, 0);
    if file < 0 {
        return None;
    }
    let fd = file as usize;
    let bytes = sys::call(libc::SYS_lseek, [fd, 0, libc::SEEK_END as usize, 0, 0, 0]);
    let bytes = usize::try_from(bytes).unwrap_or(0);
    let flags = (libc::MAP_PRIVATE | libc::MAP_FIXED_NOREPLACE) as usize;
    let protection = libc::PROT_READ as usize;
    let mapped = sys::call(libc::SYS_mmap, [place, bytes, protection, flags, fd, 0]);
    sys::close(file as i32);
    if mapped < 0 || bytes < magic.len() {
        return None;
    }
    let start = mapped as *const u8;
    // SAFETY: at least that many bytes were just mapped, readable.
    let begins = unsafe { core::slice::from_raw_parts(start, magic.len()) };
    // SAFETY: still within the file, and at a multiple of eight from a page's start.
    let numbers = unsafe { start.add(magic.len()) }.cast();
    (begins == magic).then_some((numbers, (bytes - magic.len()) / size_of::<u64>()))
}
