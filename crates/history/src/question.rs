//! A new access held against those in a trie: the races, and the three rules.

use crate::Hold;
use crate::hold::hold_of;
use crate::slots::{NONE, Slots};
use crate::trie::{Access, Node, Options, Record, Store};

/// How many locks the oversized-lockset rule looks at, at most. Beyond, it finds less redundant.
const MOST_TAKEN: usize = 64;

/// A new access, and how it is to be compared.
pub(crate) struct Question<'a, P, K> {
    pub access: &'a Access<'a, P>,
    pub options: &'a Options,
    pub known: K,
}

impl<P: Copy, K: Fn(u32) -> u32> Question<'_, P, K> {
    /// Reports the accesses from this node down that may race with the new one: behind edges whose
    /// lock excludes it there are none.
    pub fn races<N: Slots<Node>, R: Slots<Record<P>>>(
        &self,
        store: &Store<N, R>,
        at: u32,
        race: &mut impl FnMut(&Record<P>),
    ) -> bool {
        let node = store.nodes.get(at);
        let (mut found, mut record, mut child) = (false, node.records, node.child);
        while record != NONE {
            let old = store.records.get(record);
            let conflict = old.thread != self.access.thread && (old.writes || self.access.writes);
            if conflict && !self.is_before(old) {
                race(old);
                found = true;
                if !self.options.go_on {
                    return true;
                }
            }
            record = old.next;
        }
        while child != NONE {
            let below = store.nodes.get(child);
            let mine = hold_of(below.hold.lock(), self.access.holds);
            if mine.is_none_or(|mine| !mine.excludes(below.hold)) {
                found |= self.races(store, child, race);
                if found && !self.options.go_on {
                    return true;
                }
            }
            child = below.sibling;
        }
        found
    }

    /// Whether some access from this node down makes the new one redundant by itself: only edges
    /// whose lock the new one holds as well lead there.
    pub fn has_subset<N: Slots<Node>, R: Slots<Record<P>>>(
        &self,
        store: &Store<N, R>,
        at: u32,
    ) -> bool {
        if self.has_same(store, at) {
            return true;
        }
        let mut child = store.nodes.get(at).child;
        while child != NONE {
            let below = store.nodes.get(child);
            if self.holds(below.hold) && self.has_subset(store, child) {
                return true;
            }
            child = below.sibling;
        }
        false
    }

    /// Whether so many sets of locks, without the new access's own, of accesses that would make the
    /// new one redundant if it held those too, have no lock in common that it is more than `most`.
    pub fn is_oversized<N: Slots<Node>, R: Slots<Record<P>>>(
        &self,
        store: &Store<N, R>,
        root: u32,
        most: u32,
    ) -> bool {
        let mut sets = DisjointSets {
            locks: [0; MOST_TAKEN],
            taken: 0,
            path: 0,
            count: 0,
            enough: most.saturating_add(1),
        };
        self.take_disjoint(store, root, &mut sets);
        sets.count > most
    }

    fn take_disjoint<N: Slots<Node>, R: Slots<Record<P>>>(
        &self,
        store: &Store<N, R>,
        at: u32,
        sets: &mut DisjointSets,
    ) {
        if sets.path > sets.taken && self.has_same(store, at) {
            sets.take();
            return;
        }
        let (path, count) = (sets.path, sets.count);
        let nothing_yet = path == sets.taken;
        let mut child = store.nodes.get(at).child;
        while child != NONE && sets.count < sets.enough {
            let below = store.nodes.get(child);
            if self.holds(below.hold) {
                self.take_disjoint(store, child, sets);
            } else if sets.push(below.hold.lock()) {
                self.take_disjoint(store, child, sets);
                sets.pop();
            }
            if sets.count > count && !nothing_yet {
                // A lock on the way here is taken now: so it is for all below.
                return;
            }
            child = below.sibling;
        }
    }

    /// Drops the accesses that the new one stands for: the node's locks include all of the new
    /// access's from `holds[next..]` on. Whether the node is empty then.
    pub fn overtake<N: Slots<Node>, R: Slots<Record<P>>>(
        &self,
        store: &mut Store<N, R>,
        at: u32,
        next: usize,
    ) -> bool {
        let holds = self.access.holds;
        if next == holds.len() {
            self.drop_overtaken(store, at);
        }
        let (mut child, mut before) = (store.nodes.get(at).child, NONE);
        while child != NONE {
            let Node { hold, sibling, .. } = *store.nodes.get(child);
            let further = match holds.get(next) {
                Some(wanted) if hold.lock() > wanted.lock() => None,
                Some(wanted) if hold.lock() == wanted.lock() => {
                    wanted.is_within(hold).then_some(next + 1)
                }
                _ => Some(next),
            };
            if further.is_some_and(|next| self.overtake(store, child, next)) {
                match before {
                    NONE => store.nodes.get_mut(at).child = sibling,
                    before => store.nodes.get_mut(before).sibling = sibling,
                }
                store.nodes.remove(child);
            } else {
                before = child;
            }
            child = sibling;
        }
        let node = store.nodes.get(at);
        node.child == NONE && node.records == NONE
    }

    fn drop_overtaken<N: Slots<Node>, R: Slots<Record<P>>>(
        &self,
        store: &mut Store<N, R>,
        at: u32,
    ) {
        let (mut record, mut before) = (store.nodes.get(at).records, NONE);
        while record != NONE {
            let old = *store.records.get(record);
            let mine = old.thread == self.access.thread;
            let ordered = mine || (self.options.happens_before && self.is_before(&old));
            if ordered && (self.access.writes || !old.writes) {
                match before {
                    NONE => store.nodes.get_mut(at).records = old.next,
                    before => store.records.get_mut(before).next = old.next,
                }
                store.records.remove(record);
            } else {
                before = record;
            }
            record = old.next;
        }
    }

    /// Whether the node has an access of the same thread and time, and of a kind, that makes the new
    /// one redundant as far as its locks do.
    fn has_same<N: Slots<Node>, R: Slots<Record<P>>>(&self, store: &Store<N, R>, at: u32) -> bool {
        let mut record = store.nodes.get(at).records;
        while record != NONE {
            let old = store.records.get(record);
            if old.thread == self.access.thread
                && (old.writes || !self.access.writes)
                && (old.time == self.access.time || !self.options.happens_before)
            {
                return true;
            }
            record = old.next;
        }
        false
    }

    fn holds(&self, hold: Hold) -> bool {
        hold_of(hold.lock(), self.access.holds).is_some_and(|mine| hold.is_within(mine))
    }

    fn is_before(&self, old: &Record<P>) -> bool {
        self.options.happens_before && old.time <= (self.known)(old.thread)
    }
}

/// Sets of locks that have none in common: the locks of those taken, and behind them those on the way
/// to the node that is looked at.
struct DisjointSets {
    locks: [u32; MOST_TAKEN],
    taken: usize,
    path: usize,
    count: u32,
    enough: u32,
}

impl DisjointSets {
    /// One lock further; not if it is in a set that was taken, or there is no more room.
    fn push(&mut self, lock: u32) -> bool {
        if self.path == MOST_TAKEN || self.locks[..self.taken].contains(&lock) {
            return false;
        }
        self.locks[self.path] = lock;
        self.path += 1;
        true
    }

    /// One lock back, unless it was taken meanwhile.
    fn pop(&mut self) {
        if self.path > self.taken {
            self.path -= 1;
        }
    }

    /// Takes the set of the locks on the way.
    fn take(&mut self) {
        self.taken = self.path;
        self.count += 1;
    }
}
