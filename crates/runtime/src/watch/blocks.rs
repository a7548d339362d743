//! The heap blocks that are alive: where each begins, how long it is, who allocated it where.
//!
//! Found by their first byte when they are freed. A report asks which block holds an address: then
//! all are looked at, which is rare enough; then the last ones that were freed.

use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use crate::memory;
use crate::sys::Spin;

/// A block.
#[derive(Clone, Copy)]
pub struct Block {
    /// Its first byte; 0 for an entry that is free.
    pub start: usize,
    /// Its length.
    pub bytes: usize,
    /// The thread that allocated it.
    pub thread: u32,
    /// Where.
    pub context: u32,
    next: u32,
}

struct Chain {
    lock: Spin,
    first: u32,
}

const CHAINS: usize = 1 << 18;
const MOST: usize = 1 << 26;

static TABLE: AtomicPtr<Chain> = AtomicPtr::new(core::ptr::null_mut());
static BLOCKS: AtomicPtr<Block> = AtomicPtr::new(core::ptr::null_mut());
static FRESH: AtomicU32 = AtomicU32::new(1);
static FREE: AtomicU32 = AtomicU32::new(0);
static FREE_LOCK: Spin = Spin::new();
/// The last blocks that were freed, the oldest overwritten, and how many were.
static GONE: AtomicPtr<Block> = AtomicPtr::new(core::ptr::null_mut());
static GONE_COUNT: AtomicUsize = AtomicUsize::new(0);
const GONE_KEPT: usize = 1 << 14;

/// Gets the table's memory; false if there is none.
pub fn start() -> bool {
    let (table, blocks) = (memory::pages(CHAINS), memory::pages(MOST));
    TABLE.store(table, Ordering::Release);
    BLOCKS.store(blocks, Ordering::Release);
    let gone = memory::pages(GONE_KEPT);
    GONE.store(gone, Ordering::Release);
    !table.is_null() && !blocks.is_null() && !gone.is_null()
}

/// In a forked process: nobody holds a lock.
pub fn unlock() {
    FREE_LOCK.unlock();
    let table = TABLE.load(Ordering::Acquire);
    for chain in 0..CHAINS {
        // SAFETY: within the table; one thread is left. Untouched pages stay so.
        unsafe {
            if (*table.add(chain)).first != 0 {
                (*table.add(chain)).lock.unlock();
            }
        }
    }
}

fn chain(start: usize) -> *mut Chain {
    let hash = (start as u64 >> 4).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 46;
    // SAFETY: eighteen bits: within the table.
    unsafe { TABLE.load(Ordering::Relaxed).add(hash as usize % CHAINS) }
}

fn block(number: u32) -> *mut Block {
    // SAFETY: numbers are below `MOST`.
    unsafe { BLOCKS.load(Ordering::Relaxed).add(number as usize) }
}

/// A block was allocated. Without room for it, it is not known.
pub fn add(start: usize, bytes: usize, thread: u32, context: u32) {
    let number = take();
    if number == 0 {
        return;
    }
    // SAFETY: the number is ours; the chain is ours under its lock.
    unsafe {
        let chain = chain(start);
        (*chain).lock.lock();
        *block(number) = Block {
            start,
            bytes,
            thread,
            context,
            next: (*chain).first,
        };
        (*chain).first = number;
        (*chain).lock.unlock();
    }
}

/// The block that begins at an address.
pub fn at(start: usize) -> Option<Block> {
    // SAFETY: a chain's blocks are ours under its lock.
    unsafe {
        let chain = chain(start);
        (*chain).lock.lock();
        let mut number = (*chain).first;
        while number != 0 && (*block(number)).start != start {
            number = (*block(number)).next;
        }
        let found = (number != 0).then(|| *block(number));
        (*chain).lock.unlock();
        found
    }
}

/// A block is freed: what was known of it.
pub fn remove(start: usize) -> Option<Block> {
    // SAFETY: a chain's blocks are ours under its lock.
    unsafe {
        let chain = chain(start);
        (*chain).lock.lock();
        let mut link = &raw mut (*chain).first;
        let mut found = None;
        while *link != 0 {
            let number = *link;
            let entry = block(number);
            if (*entry).start == start {
                found = Some(*entry);
                *link = (*entry).next;
                give_back(number);
                break;
            }
            link = &raw mut (*entry).next;
        }
        (*chain).lock.unlock();
        if let Some(block) = found {
            let at = GONE_COUNT.fetch_add(1, Ordering::Relaxed) % GONE_KEPT;
            GONE.load(Ordering::Relaxed).add(at).write_volatile(block);
        }
        found
    }
}

/// The block that holds an address, or held it last as far as is known. Others may be allocated and freed meanwhile: the answer is
/// for the reader's eyes.
pub fn find(addr: usize) -> Option<Block> {
    // Blocks begin at multiples of sixteen, and most are small.
    const NEAR: usize = 4096;
    let near = (0..NEAR).find_map(|step| at((addr & !15).wrapping_sub(16 * step)));
    if let Some(block) = near
        && addr - block.start < block.bytes.max(1)
    {
        return Some(block);
    }
    let holds = |entry: *mut Block| {
        // SAFETY: within an array; a torn entry does not hold the address, or is for the eyes.
        let entry = unsafe { entry.read_volatile() };
        let holds = entry.start != 0 && addr.wrapping_sub(entry.start) < entry.bytes.max(1);
        holds.then_some(entry)
    };
    let count = FRESH.load(Ordering::Acquire);
    let alive = (1..count).find_map(|number| holds(block(number)));
    alive.or_else(|| {
        let gone = GONE_COUNT.load(Ordering::Relaxed);
        let mut newest_first = (gone.saturating_sub(GONE_KEPT)..gone).rev();
        // SAFETY: within the array.
        newest_first
            .find_map(|at| holds(unsafe { GONE.load(Ordering::Relaxed).add(at % GONE_KEPT) }))
    })
}

fn take() -> u32 {
    FREE_LOCK.lock();
    let free = FREE.load(Ordering::Relaxed);
    let number = if free != 0 {
        // SAFETY: a free entry is nobody else's under the lock.
        FREE.store(unsafe { (*block(free)).next }, Ordering::Relaxed);
        free
    } else {
        let fresh = FRESH.load(Ordering::Relaxed);
        let left = (fresh as usize) < MOST;
        FRESH.store(fresh + u32::from(left), Ordering::Release);
        if left { fresh } else { 0 }
    };
    FREE_LOCK.unlock();
    number
}

fn give_back(number: u32) {
    FREE_LOCK.lock();
    // SAFETY: the caller has taken it out of its chain.
    unsafe {
        (*block(number)).start = 0;
        (*block(number)).next = FREE.load(Ordering::Relaxed);
    }
    FREE.store(number, Ordering::Relaxed);
    FREE_LOCK.unlock();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_by_any_of_their_bytes_and_remembered() {
        assert!(start());
        add(0x1000, 0x20, 1, 7);
        add(0x1020, 0x10, 2, 8);
        let context = |addr| find(addr).map(|block| block.context);
        assert_eq!([context(0x1000), context(0x101f)], [Some(7); 2]);
        assert_eq!([context(0x1020), context(0x1030)], [Some(8), None]);
        assert_eq!(remove(0x1000).map(|block| block.bytes), Some(0x20));
        assert!(remove(0x1000).is_none());
        assert_eq!(context(0x1000), Some(7));
        add(0x1000, 4, 3, 9);
        assert_eq!([context(0x1003), context(0x1004)], [Some(9), Some(7)]);
        assert_eq!(context(0x1030), None);
    }
}
