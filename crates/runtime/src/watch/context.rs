//! Where an access was: its pc, the calls that led there, the locks held. Twenty bits.
//!
//! Calls form a tree: a node is a call site below the node of the call before. A site that is on
//! the way to the root already leads back to its node, so recursion adds nothing and the tree is
//! finite; the node remembers it. Locks held form a tree of their own, in the order in which they were
//! taken. All three tables are shared by the program's threads and only grow; when one is
//! full, what does not fit is unknown, which only makes reports poorer.

use core::sync::atomic::{AtomicU32, Ordering};

use super::intern::{Table, hash};
use crate::local::{Frame, Local};

/// Bits of a context's number.
pub const BITS: u32 = 20;
/// The node above all calls.
pub const ROOT: u32 = 1;
/// Locks that are not known, because a table is full.
pub const UNKNOWN_LOCKS: u32 = u32::MAX;

/// Keys: call site, parent. The value is the node that it leads to.
static CALLS: Table = Table::new(20);
/// Keys: address and mode of the lock, parent and where it was taken.
static HELD: Table = Table::new(20);
/// Keys: pc, call node and locks.
static CONTEXTS: Table = Table::new(BITS);

const ADDRESS: u64 = (1 << 48) - 1;
const CONTEXT: u32 = (1 << BITS) - 1;
const READ_MODE: u64 = 1 << 62;
const FREE_MARK: u64 = 1 << 63;

/// Gets the tables' memory; false if there is none.
pub fn start() -> bool {
    let mapped = CALLS.map() && HELD.map() && CONTEXTS.map();
    mapped && CALLS.number([0, 0], |root| root) == ROOT
}

/// How many contexts there are.
pub fn count() -> u32 {
    CONTEXTS.len()
}

static LOST: AtomicU32 = AtomicU32::new(0);

/// Whether a context could not be kept.
pub fn has_lost() -> bool {
    LOST.load(Ordering::Relaxed) != 0
}

/// The node of a call from `site` below `parent`.
fn call(parent: u32, site: usize) -> u32 {
    let edge = CALLS.number([site as u64, u64::from(parent)], |number| {
        let mut above = parent;
        while above != ROOT && above != 0 {
            let [its_site, its_parent] = CALLS.key(above);
            if its_site == site as u64 {
                CALLS.mark(above);
                return above;
            }
            above = its_parent as u32;
        }
        number
    });
    match edge {
        0 => parent, // The table is full: the stack lacks this call.
        edge => CALLS.value(edge),
    }
}

/// The node of the function that the thread is in.
///
/// # Safety
/// `local` is the thread's own state, attached; the lowest frame has its node.
#[inline]
pub unsafe fn node(local: *const Local) -> u32 {
    // SAFETY: as the caller says.
    unsafe {
        let top = (*local).frame.sub(1);
        match (*top).node {
            0 => find_node(top),
            node => node as u32,
        }
    }
}

/// The same if it was asked for before.
///
/// # Safety
/// As for `node`.
#[inline(always)]
pub unsafe fn known_node(local: *const Local) -> Option<u32> {
    // SAFETY: as the caller says.
    let node = unsafe { (*(*local).frame.sub(1)).node };
    (node != 0).then_some(node as u32)
}

#[cold]
#[inline(never)]
unsafe fn find_node(top: *mut Frame) -> u32 {
    // SAFETY: as for `node`: a frame with its node comes before the array's start.
    unsafe {
        let mut known = top;
        while (*known).node == 0 {
            known = known.sub(1);
        }
        let mut node = (*known).node as u32;
        while known != top {
            known = known.add(1);
            node = call(node, (*known).caller);
            (*known).node = node as usize;
        }
        node
    }
}

/// The number of a context.
pub fn context(pc: usize, node: u32, held: u32) -> u32 {
    number_of(pc as u64 & ADDRESS, node, held)
}

/// The number of the context of a block's release.
pub fn free_context(pc: usize, node: u32, held: u32) -> u32 {
    number_of(pc as u64 & ADDRESS | FREE_MARK, node, held)
}

fn number_of(pc: u64, node: u32, held: u32) -> u32 {
    let held = if CONTEXTS.is_nearly_full() && held != 0 {
        UNKNOWN_LOCKS
    } else {
        held
    };
    let key = [pc, u64::from(node) | u64::from(held) << 32];
    let number = CONTEXTS.number(key, |_| 0);
    if number == 0 {
        LOST.store(1, Ordering::Relaxed);
    }
    number
}

/// The locks held once `lock` is taken at `taken`, a context, on top of `held`.
pub fn with_lock(held: u32, lock: usize, write: bool, taken: u32) -> u32 {
    if held == UNKNOWN_LOCKS {
        return held;
    }
    let mode = if write { 0 } else { READ_MODE };
    let key = [
        lock as u64 & ADDRESS | mode,
        u64::from(held) | u64::from(taken) << 32,
    ];
    match HELD.number(key, |_| 0) {
        0 => UNKNOWN_LOCKS,
        number => number,
    }
}

/// The locks held once `lock` is given back: its last acquisition is taken out.
pub fn without_lock(held: u32, lock: usize) -> u32 {
    if held == 0 || held == UNKNOWN_LOCKS {
        return held;
    }
    let [first, second] = HELD.key(held);
    let (parent, taken) = (second as u32, (second >> 32) as u32);
    if first & ADDRESS == lock as u64 & ADDRESS {
        return parent;
    }
    let rest = without_lock(parent, lock);
    if rest == parent {
        return held; // It was not there.
    }
    let write = first & READ_MODE == 0;
    with_lock(rest, (first & ADDRESS) as usize, write, taken)
}

/// A lock that was held.
#[derive(Clone, Copy)]
pub struct Held {
    /// Its address.
    pub lock: u64,
    /// For writing.
    pub write: bool,
    /// The context of its acquisition.
    pub taken: u32,
}

/// The locks held, the last taken first.
pub fn locks(mut held: u32) -> impl Iterator<Item = Held> {
    core::iter::from_fn(move || {
        if held == 0 || held == UNKNOWN_LOCKS {
            return None;
        }
        let [first, second] = HELD.key(held);
        held = second as u32;
        Some(Held {
            lock: first & ADDRESS,
            write: first & READ_MODE == 0,
            taken: (second >> 32) as u32,
        })
    })
}

/// What a context's number stands for.
#[derive(Clone, Copy)]
pub struct Context {
    /// Where the hook returns to; 0 if the context is not known.
    pub pc: u64,
    /// The release of a block.
    pub frees: bool,
    /// The calls that led there.
    pub node: u32,
    /// The locks held.
    pub held: u32,
}

impl Context {
    /// The context with this number.
    pub fn of(number: u32) -> Self {
        if number == 0 {
            return Context {
                pc: 0,
                frees: false,
                node: 0,
                held: UNKNOWN_LOCKS,
            };
        }
        let [first, second] = CONTEXTS.key(number);
        Context {
            pc: first & ADDRESS,
            frees: first & FREE_MARK != 0,
            node: second as u32,
            held: (second >> 32) as u32,
        }
    }

    /// The pc and the return addresses of the calls, innermost first, and whether repeated calls are
    /// left out there.
    pub fn stack(&self) -> impl Iterator<Item = (u64, bool)> {
        let first = (self.pc != 0).then_some((self.pc, false));
        let mut node = self.node;
        let calls = core::iter::from_fn(move || {
            if node == 0 || node == ROOT {
                return None;
            }
            let [site, parent] = CALLS.key(node);
            let repeated = CALLS.is_marked(node);
            node = parent as u32;
            Some((site, repeated))
        });
        first.into_iter().chain(calls)
    }

    /// The place that counts when findings are told apart: the pc and the call that led to its
    /// function.
    pub fn signature(&self) -> u64 {
        let call = match self.node {
            0 | ROOT => 0,
            node => CALLS.key(node)[0],
        };
        hash([self.pc, call])
    }
}

/// Contexts that a thread has met, by pc: most accesses find theirs here.
pub struct Cache([Met; Cache::ENTRIES]);

/// Sixteen bytes, so that those of an inner loop stay near.
#[derive(Clone, Copy)]
struct Met {
    pc: usize,
    /// From the highest bit: the locks, the node, the context.
    rest: u64,
}

/// Where the locks begin. Their number has twenty bits; unknown ones have four more.
const MET_HELD: u32 = 40;
const MET_NODE: u32 = 20;

const _: () = assert!(
    BITS == MET_NODE,
    "contexts, nodes and locks have twenty bits each"
);

impl Cache {
    const ENTRIES: usize = 2048;

    /// The context of an access at `pc`.
    pub fn context(&mut self, pc: usize, node: u32, held: u32) -> u32 {
        if let Some(known) = self.known(pc, node, held) {
            return known;
        }
        let number = context(pc, node, held);
        let rest = Self::key(node, held) | u64::from(number);
        self.0[Self::place(pc, Self::key(node, held))] = Met { pc, rest };
        number
    }

    /// The same if it was met before.
    #[inline(always)]
    pub fn known(&self, pc: usize, node: u32, held: u32) -> Option<u32> {
        let key = Self::key(node, held);
        let met = &self.0[Self::place(pc, key)];
        let context = met.rest.wrapping_sub(key);
        let is_it = met.pc == pc && context <= u64::from(CONTEXT);
        is_it.then_some(context as u32)
    }

    #[inline(always)]
    fn key(node: u32, held: u32) -> u64 {
        u64::from(node) << MET_NODE | u64::from(held) << MET_HELD
    }

    /// A function's accesses lie side by side, those of other calls and other locks elsewhere.
    #[inline(always)]
    fn place(pc: usize, key: u64) -> usize {
        let elsewhere = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 50;
        (elsewhere as usize + (pc >> 2)) % Self::ENTRIES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack_of(sites: &[usize]) -> Vec<(u64, bool)> {
        let node = sites.iter().fold(ROOT, |node, site| call(node, *site));
        Context::of(context(0x99, node, 0)).stack().collect()
    }

    // One test: the tables are the program's.
    #[test]
    fn contexts_have_stacks_and_locks() {
        assert!(start());
        assert_eq!(
            stack_of(&[0x10, 0x20, 0x30]),
            [(0x99, false), (0x30, false), (0x20, false), (0x10, false)]
        );
        // Recursion: 0x20 calls itself by way of 0x30.
        let mut sites = vec![0x40];
        for _ in 0..1000 {
            sites.extend([0x50, 0x60]);
        }
        let recursive = stack_of(&sites);
        assert_eq!(recursive.len(), 4);
        assert!(recursive[1..].iter().any(|(_, repeated)| *repeated));

        let taken = context(0x77, ROOT, 0);
        let one = with_lock(0, 0x1000, true, taken);
        let two = with_lock(one, 0x2000, false, taken);
        let all = |held| locks(held).map(|l| (l.lock, l.write)).collect::<Vec<_>>();
        assert_eq!(all(two), [(0x2000, false), (0x1000, true)]);
        assert_eq!(without_lock(two, 0x2000), one);
        assert_eq!(all(without_lock(two, 0x1000)), [(0x2000, false)]);
        assert_eq!(without_lock(two, 0x3000), two);
        assert_eq!(without_lock(one, 0x1000), 0);
        // Taken twice, given back once: still held.
        let twice = with_lock(two, 0x1000, true, taken);
        assert_eq!(without_lock(twice, 0x1000), two);
    }
}
