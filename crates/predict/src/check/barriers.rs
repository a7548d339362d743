//! The rounds of barriers, as they were observed.
//!
//! A round is over when the first of those who entered in it leaves: whoever enters then belongs to the next. So an exit waits for
//! the entries of its round and all before it, an entry for those of the rounds before. This takes a barrier to be used by
//! as many threads as it waits for. Where that is seen not to be so (the window has the barrier's count, and a round has another), or
//! where somebody leaves who entered before the window, rounds are not known, and each waits for all that it may have waited for:
//! an exit for all entries observed before it, an entry for those observed before the last exit.

use deadheat_trace::Op;
use rustc_hash::FxHashMap;

/// What happened to one barrier, in the order observed.
#[derive(Default)]
pub(super) struct Barrier {
    /// Position, thread, and whether it is an entry.
    events: Vec<(u32, u32, bool)>,
    /// How many threads it waits for, if the window has that.
    count: Option<u64>,
}

impl Barrier {
    pub fn note(&mut self, position: u32, thread: u32, op: Op, written: Option<u64>) {
        match op {
            Op::BarrierEnter => self.events.push((position, thread, true)),
            Op::BarrierExit => self.events.push((position, thread, false)),
            Op::Init => self.count = written,
            _ => {}
        }
    }

    /// Whether nobody came.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Whether it is known how many it waits for, and its rounds were such.
    pub fn is_known(&self) -> bool {
        self.count.is_some() && self.by_rounds().is_some()
    }

    /// For each of its events, how many entries (the first, in the order observed) come before it.
    pub fn needs(&self) -> Vec<(u32, u32)> {
        self.by_rounds().unwrap_or_else(|| self.by_order())
    }

    fn by_rounds(&self) -> Option<Vec<(u32, u32)>> {
        // Where each round starts, in entries; the last is the current one.
        let mut starts = vec![0];
        let mut entries = 0;
        let mut over = false;
        let mut inside: FxHashMap<u32, usize> = FxHashMap::default();
        let mut rounds = Vec::with_capacity(self.events.len());
        for &(_, thread, enters) in &self.events {
            if enters {
                if over {
                    starts.push(entries);
                    over = false;
                }
                entries += 1;
                inside.insert(thread, starts.len() - 1);
                rounds.push(starts.len() - 1);
            } else {
                let round = inside.remove(&thread)?;
                over |= round == starts.len() - 1;
                rounds.push(round);
            }
        }
        starts.push(entries);
        if let Some(count) = self.count {
            let sizes: Vec<u64> = starts.windows(2).map(|w| u64::from(w[1] - w[0])).collect();
            let (last, before) = sizes.split_last()?;
            if before.iter().any(|&size| size != count) || *last > count {
                return None;
            }
        }
        let events = self.events.iter().zip(rounds);
        let need = |(&(position, _, enters), round): (&(u32, u32, bool), usize)| {
            (position, starts[if enters { round } else { round + 1 }])
        };
        Some(events.map(need).collect())
    }

    fn by_order(&self) -> Vec<(u32, u32)> {
        let (mut entries, mut before_exit) = (0, 0);
        let each = self.events.iter().map(|&(position, _, enters)| {
            if enters {
                entries += 1;
                (position, before_exit)
            } else {
                before_exit = entries;
                (position, entries)
            }
        });
        each.collect()
    }
}
