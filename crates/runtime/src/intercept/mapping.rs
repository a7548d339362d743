//! Memory that the program asks the kernel for: it lives from `mmap` to `munmap`, like a block of the heap from
//! its allocation to its release. What is mapped there later has nothing in common with it.
//!
//! What unmaps a part of a mapping writes to that part. The rest lives on; so nothing may be mapped into the gap, or its life would
//! be the rest's: the gap is kept, as memory that cannot be accessed, until all of the mapping is gone. What is mapped
//! over a part of a mapping goes on with its life. Only where nobody can have accessed anything is a mapping cut into several.

use core::cell::UnsafeCell;
use core::ffi::c_int;

use deadheat_wire::Op;

use super::real;
use crate::hooks::{caller, trampoline};
use crate::record::event::{self, Sync};
use crate::record::{Mode, mode};
use crate::sys::{self, Spin};
use crate::{serial, threads, watch};

trampoline! {
    "mmap" => mmap;
    "mmap64" => mmap;
    "munmap" => munmap;
    "mremap" => mremap;
    "shmat" => shmat;
    "shmdt" => shmdt;
    "sbrk" => sbrk;
}

const PAGE: usize = 4096;
const FAILED: usize = usize::MAX;

/// A mapping of the program's.
#[derive(Clone, Copy)]
struct Mapping {
    start: usize,
    end: usize,
    /// How many of its bytes are in gaps.
    gone: usize,
    /// It could never be accessed so far.
    is_reserved: bool,
}

impl Mapping {
    const NONE: Mapping = Mapping {
        start: 0,
        end: 0,
        gone: 0,
        is_reserved: false,
    };
}

const MOST: usize = 16 * 1024;

struct Table {
    all: [Mapping; MOST],
    count: usize,
}

struct Guarded(UnsafeCell<Table>, Spin);
// SAFETY: only used under its lock.
unsafe impl core::marker::Sync for Guarded {}
static MAPPINGS: Guarded = Guarded(
    UnsafeCell::new(Table {
        all: [Mapping::NONE; MOST],
        count: 0,
    }),
    Spin::new(),
);

fn with_table<R>(action: impl FnOnce(&mut Table) -> R) -> R {
    MAPPINGS.1.lock();
    // SAFETY: under the lock.
    let result = action(unsafe { &mut *MAPPINGS.0.get() });
    MAPPINGS.1.unlock();
    result
}

/// In a forked process: nobody holds the lock.
pub fn unlock() {
    MAPPINGS.1.unlock();
}

impl Table {
    fn add(&mut self, start: usize, end: usize, is_reserved: bool) -> bool {
        let Some(place) = self.all.get_mut(self.count) else {
            return false;
        };
        *place = Mapping {
            start,
            end,
            gone: 0,
            is_reserved,
        };
        self.count += 1;
        true
    }

    /// The first mapping that begins or goes on behind `from` and has a byte below `end`.
    fn first(&self, from: usize, end: usize) -> Option<Mapping> {
        let known = self.all[..self.count].iter();
        let meets = known.filter(|mapping| mapping.start < end && mapping.end > from);
        meets.copied().min_by_key(|mapping| mapping.start)
    }

    fn remove(&mut self, start: usize) {
        let known = &mut self.all[..self.count];
        if let Some(index) = known.iter().position(|mapping| mapping.start == start) {
            self.count -= 1;
            self.all[index] = self.all[self.count];
        }
    }

    /// So many bytes more are in gaps; whether that is all.
    fn lose(&mut self, start: usize, bytes: usize) -> bool {
        let known = &mut self.all[..self.count];
        let Some(mapping) = known.iter_mut().find(|mapping| mapping.start == start) else {
            return false;
        };
        mapping.gone += bytes;
        mapping.gone >= mapping.end - mapping.start
    }
}

/// Memory was mapped: a life begins.
fn begins(start: usize, bytes: usize, is_reserved: bool, pc: usize) {
    if bytes == 0 || !threads::visible() {
        return;
    }
    if with_table(|table| table.add(start, start + bytes, is_reserved)) {
        Sync::new(Op::Alloc, start, pc).with(bytes as u64).record();
    }
}

/// Whether the first bytes of a page can be read.
fn is_readable(addr: usize) -> bool {
    let mut byte = 0u8;
    let here = libc::iovec {
        iov_base: (&raw mut byte).cast(),
        iov_len: 1,
    };
    let there = libc::iovec {
        iov_base: addr as *mut _,
        iov_len: 1,
    };
    let args = [
        sys::getpid() as usize,
        &raw const here as usize,
        1,
        &raw const there as usize,
        1,
        0,
    ];
    sys::call(libc::SYS_process_vm_readv, args) == 1
}

/// A part of a mapping is about to go away: a write to it, as far as that can be told.
fn loses(start: usize, bytes: usize, pc: usize) {
    const MOST_TOLD: usize = 256 * 1024;
    if bytes <= MOST_TOLD && (mode() != Mode::Serial || is_readable(start)) {
        event::range(true, start, bytes, pc);
    }
    serial::settle();
}

/// What is left to be done with memory that goes away.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// All of it is the kernel's again.
    All,
    /// It stays a part of a mapping that lives on: a gap, or whatever is mapped there now.
    Part,
}

/// Cuts a part out of a mapping that nobody can have accessed.
fn cut(mapping: Mapping, first: usize, last: usize, pc: usize) {
    with_table(|table| table.remove(mapping.start));
    begins(mapping.start, first - mapping.start, true, pc);
    begins(last, mapping.end - last, true, pc);
}

/// Memory becomes accessible, or not.
pub fn protected(start: usize, bytes: usize, protection: c_int) {
    if protection == libc::PROT_NONE {
        return;
    }
    let end = start.saturating_add(bytes);
    with_table(|table| {
        let known = table.all[..table.count].iter_mut();
        known
            .filter(|mapping| mapping.start < end && mapping.end > start)
            .for_each(|mapping| mapping.is_reserved = false);
    });
}

/// Memory is about to go away. `keeps`: nobody maps something else there at once.
fn ends(start: usize, end: usize, pc: usize, keeps: bool) -> Left {
    let mut from = start;
    let mut left = Left::All;
    while from < end
        && let Some(mapping) = with_table(|table| table.first(from, end))
    {
        let (first, last) = (mapping.start.max(start), mapping.end.min(end));
        from = mapping.end;
        let is_whole = first == mapping.start && last == mapping.end;
        if !is_whole && mapping.is_reserved {
            cut(mapping, first, last, pc);
            continue;
        }
        if !is_whole {
            loses(first, last - first, pc);
        }
        if is_whole || with_table(|table| table.lose(mapping.start, last - first)) {
            let bytes = mapping.end - mapping.start;
            serial::gate(Op::Free, mapping.start, bytes, pc);
            with_table(|table| table.remove(mapping.start));
            event::sync(Op::Free, mapping.start, pc);
            if !is_whole {
                // SAFETY: the program has given all of it back, in parts.
                unsafe { real::munmap(mapping.start, bytes) };
            }
        } else if !keeps {
            left = Left::Part;
        } else {
            close_off(first, last - first);
            left = Left::Part;
            // What is beyond a mapping that was cut is unmapped on its own.
            if start < first {
                // SAFETY: the program's own request, without the part that is kept.
                unsafe { real::munmap(start, first - start) };
            }
            if last < end && with_table(|table| table.first(last, end)).is_none() {
                // SAFETY: as above.
                unsafe { real::munmap(last, end - last) };
            }
        }
    }
    left
}

/// Keeps memory from being mapped again, and from being accessed.
fn close_off(start: usize, bytes: usize) {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
    let args = [
        start,
        bytes,
        libc::PROT_NONE as usize,
        flags as usize,
        usize::MAX,
        0,
    ];
    sys::call(libc::SYS_mmap, args);
}

fn whole_pages(bytes: usize) -> usize {
    bytes.next_multiple_of(PAGE)
}

// SAFETY of all calls below: the arguments are the program's own, for this very function.

unsafe extern "C" fn mmap(
    wanted: usize,
    bytes: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> usize {
    let pc = caller();
    let map = |flags| unsafe { real::mmap(wanted, bytes, protection, flags, fd, offset) };
    if !threads::visible() {
        return map(flags);
    }
    let length = whole_pages(bytes);
    let mut left = Left::All;
    if flags & libc::MAP_FIXED_NOREPLACE != libc::MAP_FIXED_NOREPLACE
        && flags & libc::MAP_FIXED != 0
    {
        left = ends(wanted, wanted.saturating_add(length), pc, false);
        if mode() == Mode::Watch {
            watch::unmapped(wanted, length);
        }
    }
    let start = map(flags);
    if start != FAILED && left == Left::All {
        begins(start, length, protection == libc::PROT_NONE, pc);
    }
    start
}

unsafe extern "C" fn munmap(start: usize, bytes: usize) -> c_int {
    let pc = caller();
    serial::settle();
    let is_sane = start.is_multiple_of(PAGE) && bytes != 0;
    if !threads::visible() || !is_sane {
        return unsafe { real::munmap(start, bytes) };
    }
    let end = start.saturating_add(whole_pages(bytes));
    let left = ends(start, end, pc, true);
    if mode() == Mode::Watch {
        watch::unmapped(start, end - start);
    }
    match left {
        Left::All => unsafe { real::munmap(start, bytes) },
        Left::Part => 0,
    }
}

unsafe extern "C" fn mremap(
    start: usize,
    bytes: usize,
    new_bytes: usize,
    flags: c_int,
    new_start: usize,
) -> usize {
    let pc = caller();
    serial::settle();
    let (old, new) = (whole_pages(bytes), whole_pages(new_bytes));
    let real = || unsafe { real::mremap(start, bytes, new_bytes, flags, new_start) };
    if !threads::visible() {
        return real();
    }
    if flags & libc::MREMAP_FIXED != 0 {
        ends(new_start, new_start.saturating_add(new), pc, false);
    } else if new < old && new != 0 && start.is_multiple_of(PAGE) {
        return match unsafe { munmap(start + new, old - new) } {
            0 => start,
            _ => FAILED,
        };
    }
    // Where it goes shows only later; whoever moves it writes to all of it.
    let is_known = with_table(|table| table.first(start, start + old))
        .is_some_and(|mapping| mapping.start == start);
    let moved = real();
    if moved == FAILED || !is_known {
        return moved;
    }
    if moved == start {
        begins(start + old, new - old, false, pc);
        return moved;
    }
    with_table(|table| table.remove(start));
    event::sync(Op::Free, start, pc);
    if mode() == Mode::Watch {
        watch::unmapped(start, old);
    }
    begins(moved, new, false, pc);
    moved
}

unsafe extern "C" fn shmat(segment: c_int, wanted: usize, flags: c_int) -> usize {
    let pc = caller();
    let start = unsafe { real::shmat(segment, wanted, flags) };
    if start != FAILED {
        let mut about: libc::shmid_ds = unsafe { core::mem::zeroed() };
        if unsafe { libc::shmctl(segment, libc::IPC_STAT, &mut about) } == 0 {
            begins(start, whole_pages(about.shm_segsz), false, pc);
        }
    }
    start
}

unsafe extern "C" fn shmdt(start: usize) -> c_int {
    let pc = caller();
    serial::settle();
    if threads::visible()
        && let Some(mapping) = with_table(|table| table.first(start, start + 1))
        && mapping.start == start
    {
        ends(start, mapping.end, pc, true);
        if mode() == Mode::Watch {
            watch::unmapped(start, mapping.end - start);
        }
    }
    unsafe { real::shmdt(start) }
}

/// The C library's heap moves the same end of the data, without asking us.
unsafe extern "C" fn sbrk(by: isize) -> usize {
    let pc = caller();
    serial::settle();
    if by < 0 && threads::visible() {
        let end = unsafe { real::sbrk(0) };
        let start = end.wrapping_add_signed(by);
        let is_inside = |mapping: &Mapping| mapping.start >= start;
        while let Some(mapping) = with_table(|table| table.first(start, end).filter(is_inside)) {
            ends(mapping.start, mapping.end, pc, false);
        }
        if mode() == Mode::Watch {
            watch::unmapped(start, end - start);
        }
    }
    let before = unsafe { real::sbrk(by) };
    if by > 0 && before != FAILED {
        begins(before, by as usize, false, pc);
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_found_and_lost_in_parts() {
        let mut table = Box::new(Table {
            all: [Mapping::NONE; MOST],
            count: 0,
        });
        assert!(table.add(0x1000, 0x4000, false) && table.add(0x8000, 0x9000, false));
        let start = |table: &Table, from, end| table.first(from, end).map(|found| found.start);
        assert_eq!(start(&table, 0x0, 0x1000), None);
        assert_eq!(start(&table, 0x3fff, 0x9000), Some(0x1000));
        assert_eq!(start(&table, 0x4000, 0x9000), Some(0x8000));
        assert!(!table.lose(0x1000, 0x1000));
        assert!(table.lose(0x1000, 0x2000));
        table.remove(0x1000);
        assert_eq!(start(&table, 0x0, 0x10000), Some(0x8000));
    }
}
