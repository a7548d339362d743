//! Cuts the memory that a window accesses into runs of bytes that no access touches in part.
//!
//! Those are *shared* that several threads access and some thread writes. What one thread accesses atomically and code that nobody saw
//! writes is shared, too: that code may be another thread's. Code that nobody saw writes all bytes at once: what it writes
//! to a thread's own bytes beside shared ones depends on others, too, so those are shared as well.

use deadheat_trace::Op;
use rustc_hash::FxHashMap;

use crate::Window;
use crate::model::NONE;
use crate::model::lives::Lives;
use crate::model::threads::Threads;

/// The atoms of a window.
pub struct Atoms {
    /// How many are shared.
    pub shared: usize,
    /// The extent of each access; [`NONE`] for other events.
    extent: Vec<u32>,
    extents: Vec<Extent>,
    atoms: Vec<Atom>,
}

/// The bytes of an access.
struct Extent {
    life: u32,
    start: u64,
    bytes: u64,
    /// Its atoms: the first, and how many.
    first: u32,
    count: u32,
    /// Whether there is a shared one among those that it hangs together with.
    is_shared: bool,
}

struct Atom {
    life: u32,
    start: u64,
    bytes: u64,
    usage: Use,
    /// Its number among the shared ones.
    shared: u32,
}

/// Who accesses an atom.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Use {
    thread: Option<u32>,
    is_shared: bool,
    is_written: bool,
    /// Code that nobody saw writes all of it at once.
    is_external: bool,
    /// It is accessed atomically: it is there for several threads.
    is_atomic: bool,
}

/// The part of an access that lies in one atom.
pub struct Piece {
    /// The atom.
    pub atom: usize,
    /// Its number among the shared ones, if it is.
    pub shared: Option<u32>,
    /// Several threads access it, or may without being seen, and some thread writes it.
    pub is_contended: bool,
    /// It is accessed atomically.
    pub is_atomic: bool,
    /// Nobody writes it.
    pub is_only_read: bool,
    /// Where it begins in the access.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
}

impl Use {
    fn add(&mut self, thread: u32, writes: bool) {
        self.is_shared |= self.thread.is_some_and(|other| other != thread);
        self.thread = Some(thread);
        self.is_written |= writes;
    }

    fn join(&mut self, other: Use) {
        if let Some(thread) = other.thread {
            self.add(thread, other.is_written);
        }
        self.is_shared |= other.is_shared;
        self.is_external |= other.is_external;
        self.is_atomic |= other.is_atomic;
    }

    fn is_contended(self) -> bool {
        let is_changed_by_others = self.is_atomic && self.is_external;
        (self.is_shared || is_changed_by_others) && self.is_written
    }
}

impl Atoms {
    /// The atoms of a window.
    pub fn of(window: &Window, threads: &Threads, lives: &Lives) -> Self {
        let mut numbers: FxHashMap<(u32, u64, u64), u32> = FxHashMap::default();
        let mut atoms = Atoms {
            shared: 0,
            extent: vec![NONE; window.steps.len()],
            extents: Vec::new(),
            atoms: Vec::new(),
        };
        let mut uses: Vec<Use> = Vec::new();
        for (position, step) in window.steps.iter().enumerate() {
            let event = &step.event;
            if !event.op().is_access() || event.size() == 0 {
                continue;
            }
            let key = (lives.of[position], event.addr().0, event.size());
            let number = *numbers.entry(key).or_insert_with(|| {
                let (life, start, bytes) = key;
                atoms.extents.push(Extent {
                    life,
                    start,
                    bytes,
                    first: 0,
                    count: 0,
                    is_shared: false,
                });
                uses.push(Use::default());
                uses.len() as u32 - 1
            });
            let usage = &mut uses[number as usize];
            usage.add(threads.of[position], event.op().writes());
            usage.is_external |= event.op() == Op::ExternalWrite;
            usage.is_atomic |= event.op().is_atomic();
            // Whoever allocates or frees the block writes to it.
            for end in lives.around(position) {
                usage.add(threads.of[end as usize], true);
            }
            atoms.extent[position] = number;
        }
        atoms.cut(&uses);
        atoms
    }

    /// Cuts the extents at each other's ends.
    fn cut(&mut self, uses: &[Use]) {
        let mut order: Vec<u32> = (0..self.extents.len() as u32).collect();
        order.sort_unstable_by_key(|number| {
            let extent = &self.extents[*number as usize];
            (extent.life, extent.start, extent.bytes)
        });
        let mut at = 0;
        let mut ends: Vec<u64> = Vec::new();
        while at < order.len() {
            // Extents that hang together.
            let Extent {
                life, start, bytes, ..
            } = self.extents[order[at] as usize];
            let (mut end, mut next) = (start + bytes, at + 1);
            ends.clear();
            ends.extend([start, end]);
            while let Some(other) = order
                .get(next)
                .map(|number| &self.extents[*number as usize])
                && other.life == life
                && other.start < end
            {
                ends.extend([other.start, other.start + other.bytes]);
                end = end.max(other.start + other.bytes);
                next += 1;
            }
            ends.sort_unstable();
            ends.dedup();
            let first = self.atoms.len();
            for pair in ends.windows(2) {
                self.atoms.push(Atom {
                    life,
                    start: pair[0],
                    bytes: pair[1] - pair[0],
                    usage: Use::default(),
                    shared: NONE,
                });
            }
            for number in &order[at..next] {
                let extent = &mut self.extents[*number as usize];
                let from = ends.partition_point(|end| *end < extent.start);
                let to = ends.partition_point(|end| *end < extent.start + extent.bytes);
                (extent.first, extent.count) = ((first + from) as u32, (to - from) as u32);
                for atom in &mut self.atoms[first + from..first + to] {
                    atom.usage.join(uses[*number as usize]);
                }
            }
            let is_shared = self.atoms[first..]
                .iter()
                .any(|atom| atom.usage.is_contended());
            self.number(first, &order[at..next], uses);
            for number in &order[at..next] {
                self.extents[*number as usize].is_shared = is_shared;
            }
            at = next;
        }
    }

    /// Numbers the shared atoms among those from `first` on, which are of these extents.
    fn number(&mut self, first: usize, extents: &[u32], uses: &[Use]) {
        let mut is_shared: Vec<bool> = self.atoms[first..]
            .iter()
            .map(|atom| atom.usage.is_contended())
            .collect();
        let external = extents.iter().map(|number| *number as usize);
        for number in external.filter(|number| uses[*number].is_external) {
            let extent = &self.extents[number];
            let start = extent.first as usize - first;
            let range = start..start + extent.count as usize;
            if self.atoms[first..][range.clone()]
                .iter()
                .any(|atom| atom.usage.is_contended())
            {
                is_shared[range].fill(true);
            }
        }
        for (atom, _) in self.atoms[first..]
            .iter_mut()
            .zip(is_shared)
            .filter(|(_, is_shared)| *is_shared)
        {
            atom.shared = self.shared as u32;
            self.shared += 1;
        }
    }

    /// Whether an access hangs together with shared memory.
    pub fn is_shared(&self, position: usize) -> bool {
        let extent = self.extents.get(self.extent[position] as usize);
        extent.is_some_and(|extent| extent.is_shared)
    }

    /// How many there are, shared or not.
    pub fn count(&self) -> usize {
        self.atoms.len()
    }

    /// The parts of an access.
    pub fn pieces(&self, position: usize) -> impl Iterator<Item = Piece> + '_ {
        let extent = self.extents.get(self.extent[position] as usize);
        let range = extent.map_or(0..0, |extent| extent.first..extent.first + extent.count);
        let start = extent.map_or(0, |extent| extent.start);
        range.map(move |number| {
            let atom = &self.atoms[number as usize];
            Piece {
                atom: number as usize,
                shared: (atom.shared != NONE).then_some(atom.shared),
                is_contended: atom.usage.is_contended(),
                is_atomic: atom.usage.is_atomic,
                is_only_read: !atom.usage.is_written,
                offset: atom.start - start,
                bytes: atom.bytes,
            }
        })
    }

    /// The shared atoms that were there before the window, which so many blocks were: address,
    /// length, number.
    pub fn at_border(&self, blocks: usize) -> impl Iterator<Item = (u64, u64, u32)> + '_ {
        let atoms = self.atoms.iter();
        let there = atoms.filter(move |atom| atom.life as usize <= blocks && atom.shared != NONE);
        there.map(|atom| (atom.start, atom.bytes, atom.shared))
    }
}
