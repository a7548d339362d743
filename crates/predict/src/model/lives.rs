//! Lives of heap blocks and of synchronisation objects: each use is after the beginning and before the
//! end of its life.
//!
//! That a use is after the beginning is hard (it cannot be otherwise); that the end is after the uses
//! holds among those events that a schedule has.

use std::collections::BTreeMap;

use deadheat_trace::Op;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::NONE;
use super::threads::Threads;
use crate::Window;

/// The lives of a window.
pub struct Lives {
    /// The life of each access's memory: 0 is what was there before the window, and all that is no block.
    pub of: Vec<u32>,
    /// The ends that the window has.
    pub ends: Vec<End>,
    /// The end of each life's block, an index into `ends`.
    end_of_life: Vec<u32>,
    /// The beginning of each life's block.
    begin_of_life: Vec<u32>,
    /// Whether several threads have to do with it.
    has_several: Vec<bool>,
    /// The end of the object that an event uses.
    end_of_use: FxHashMap<u32, u32>,
    beginnings: Vec<(u32, u32)>,
    ends_in_order: Vec<(u32, u32)>,
}

/// The end of a life.
pub struct End {
    /// The event.
    pub event: u32,
    /// What other threads do with the block or object: per thread, in order.
    pub uses: Vec<(u32, Vec<u32>)>,
}

#[derive(Default)]
struct Life {
    begin: Option<u32>,
    /// The last uses of the life before, by each thread: all of it comes before this one.
    earlier: Vec<u32>,
    /// The threads that have used it, with their uses.
    uses: SmallVec<[(u32, Vec<u32>); 2]>,
}

impl Life {
    fn add(&mut self, event: u32, thread: u32, beginnings: &mut Vec<(u32, u32)>) {
        match self.uses.iter_mut().find(|(user, _)| *user == thread) {
            Some((_, uses)) => uses.push(event),
            None => {
                let earlier = self.begin.iter().chain(&self.earlier);
                beginnings.extend(earlier.map(|before| (*before, event)));
                self.uses.push((thread, vec![event]));
            }
        }
    }

    fn end(self, event: u32, thread: u32) -> End {
        let uses = self.uses.into_iter();
        End {
            event,
            uses: uses.filter(|(user, _)| *user != thread).collect(),
        }
    }
}

impl Lives {
    /// The lives of a window.
    pub fn of(window: &Window, threads: &Threads) -> Self {
        let mut lives = Lives {
            of: vec![0; window.steps.len()],
            ends: Vec::new(),
            end_of_life: vec![NONE],
            begin_of_life: vec![NONE],
            has_several: vec![false],
            end_of_use: FxHashMap::default(),
            beginnings: Vec::new(),
            ends_in_order: Vec::new(),
        };
        lives.of_blocks(window, threads);
        lives.of_objects(window, threads);
        let ends = lives.ends.iter().enumerate();
        lives.ends_in_order = ends
            .map(|(number, end)| (end.event, number as u32))
            .collect();
        lives.ends_in_order.sort_unstable();
        lives
    }

    fn of_blocks(&mut self, window: &Window, threads: &Threads) {
        // By their first byte: where they end, and their number.
        let mut blocks: BTreeMap<u64, (u64, u32)> = BTreeMap::new();
        let mut lives = vec![Life::default()];
        for block in &window.border.blocks {
            blocks.insert(
                block.start.0,
                (
                    block.start.0.saturating_add(block.bytes),
                    lives.len() as u32,
                ),
            );
            lives.push(Life::default());
            self.begin(NONE);
        }
        let mut owner: Vec<u32> = vec![NONE; lives.len()];
        for (position, step) in window.steps.iter().enumerate() {
            let (event, thread) = (position as u32, threads.of[position]);
            let addr = step.event.addr().0;
            match step.event.op() {
                Op::Alloc => {
                    let end = addr.saturating_add(step.written().unwrap_or(0).max(1));
                    let overlapping: SmallVec<[u64; 4]> = blocks
                        .range(..end)
                        .rev()
                        .take_while(|(start, (last, _))| *last > addr || **start >= addr)
                        .map(|(start, _)| *start)
                        .collect();
                    for start in overlapping {
                        blocks.remove(&start);
                    }
                    blocks.insert(addr, (end, lives.len() as u32));
                    lives.push(Life {
                        begin: Some(event),
                        ..Life::default()
                    });
                    self.of[position] = self.begin(event);
                    owner.push(thread);
                }
                Op::Free => {
                    if let Some((_, life)) = blocks.remove(&addr) {
                        let ended = std::mem::take(&mut lives[life as usize]);
                        self.beginnings
                            .extend(ended.begin.map(|begin| (begin, event)));
                        self.of[position] = life;
                        self.used(life, thread, &mut owner);
                        self.end_of_life[life as usize] = self.ends.len() as u32;
                        self.ends.push(ended.end(event, thread));
                    }
                }
                op if op.is_access() => {
                    let block = blocks.range(..=addr).next_back();
                    if let Some((_, (end, life))) = block
                        && addr < *end
                    {
                        self.of[position] = *life;
                        self.used(*life, thread, &mut owner);
                        lives[*life as usize].add(event, thread, &mut self.beginnings);
                    }
                }
                _ => {}
            }
        }
    }

    fn begin(&mut self, event: u32) -> u32 {
        self.begin_of_life.push(event);
        self.end_of_life.push(NONE);
        self.has_several.push(false);
        self.has_several.len() as u32 - 1
    }

    fn used(&mut self, life: u32, thread: u32, owner: &mut [u32]) {
        let owner = &mut owner[life as usize];
        if *owner == NONE {
            *owner = thread;
        }
        self.has_several[life as usize] |= *owner != thread;
    }

    fn of_objects(&mut self, window: &Window, threads: &Threads) {
        let mut lives: FxHashMap<u64, Life> = FxHashMap::default();
        for (position, step) in window.steps.iter().enumerate() {
            let op = step.event.op();
            if !uses_object(op) {
                continue;
            }
            let (event, thread) = (position as u32, threads.of[position]);
            let life = lives.entry(step.event.target()).or_default();
            match op {
                Op::Init => {
                    // The object's life before is over.
                    let last = |(_, uses): &(u32, Vec<u32>)| uses.last().map(|last| (*last, event));
                    self.beginnings.extend(life.uses.iter().filter_map(last));
                    let earlier = life.begin.iter().chain(&life.earlier);
                    self.beginnings
                        .extend(earlier.map(|before| (*before, event)));
                    *life = Life {
                        begin: Some(event),
                        ..Life::default()
                    }
                }
                Op::Destroy => {
                    let ended = std::mem::take(life);
                    let last = ended.uses.iter().filter_map(|(_, uses)| uses.last());
                    life.earlier = last.chain(&ended.earlier).copied().collect();
                    let number = self.ends.len() as u32;
                    for (_, uses) in &ended.uses {
                        let uses = uses.iter().map(|used| (*used, number));
                        self.end_of_use.extend(uses);
                    }
                    self.beginnings
                        .extend(ended.begin.map(|begin| (begin, event)));
                    self.ends.push(ended.end(event, thread));
                    life.begin = Some(event);
                }
                _ => life.add(event, thread, &mut self.beginnings),
            }
        }
    }

    /// Edges from the beginnings of lives to the first uses by each thread, and to their ends.
    pub fn beginnings(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.beginnings.iter().copied()
    }

    /// The allocation and the release of the block that an access lies in, as far as the window has them.
    pub fn around(&self, position: usize) -> impl Iterator<Item = u32> + '_ {
        let life = self.of[position] as usize;
        let end = self.end_of_life[life];
        let begin = Some(self.begin_of_life[life]).filter(|begin| *begin != NONE);
        begin
            .into_iter()
            .chain((end != NONE).then(|| self.ends[end as usize].event))
    }

    /// Whether several threads have to do with the block that this event allocates or releases.
    pub fn is_shared(&self, position: usize) -> bool {
        let life = self.of[position] as usize;
        life != 0 && self.has_several[life]
    }

    /// The end that an event is.
    pub fn end_at(&self, event: u32) -> Option<&End> {
        let at = self.ends_in_order.partition_point(|(end, _)| *end < event);
        let (end, number) = self.ends_in_order.get(at)?;
        (*end == event).then(|| &self.ends[*number as usize])
    }

    /// The end of the memory or object that an event uses; not that it is one itself.
    pub fn end_after(&self, window: &Window, event: u32) -> Option<&End> {
        let is_access = window.steps[event as usize].event.op().is_access();
        let number = match is_access {
            true => self.end_of_life[self.of[event as usize] as usize],
            false => *self.end_of_use.get(&event)?,
        };
        (number != NONE).then(|| &self.ends[number as usize])
    }
}

/// Whether an operation has a synchronisation object as its target.
fn uses_object(op: Op) -> bool {
    matches!(
        op,
        Op::Acquire
            | Op::Release
            | Op::ReadAcquire
            | Op::ReadRelease
            | Op::Request
            | Op::ReadRequest
            | Op::Refused
            | Op::ReadRefused
            | Op::Wait
            | Op::Wake
            | Op::Timeout
            | Op::Notify
            | Op::NotifyAll
            | Op::BarrierEnter
            | Op::BarrierExit
            | Op::Post
            | Op::Take
            | Op::TakeRefused
            | Op::Send
            | Op::Receive
            | Op::ReceiveRefused
            | Op::Init
            | Op::Destroy
    )
}
