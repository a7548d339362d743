//! What threads got from the system: it stands between the events of a serial recording, and is no step.

use std::collections::BTreeMap;

use deadheat_wire::inputs::{self as wire, FIRST_THREAD, MAGIC, VERSION};
use deadheat_wire::word::{self, ext};

use super::TraceFile;
use crate::{Mode, ThreadId};

/// A value that a thread got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// What it is: see `deadheat_wire::inputs::kind`.
    pub kind: u32,
    /// What it was.
    pub value: u64,
}

/// What the threads of a run got from the system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// The seed of random numbers.
    pub seed: u64,
    /// Each thread's values in order, for threads that got any.
    pub threads: BTreeMap<ThreadId, Vec<Input>>,
    /// The threads' keys, see `deadheat_wire::inputs`.
    keys: BTreeMap<ThreadId, u64>,
}

impl TraceFile {
    /// What its threads got from the system: nothing in a parallel recording. Where events are missing,
    /// it ends: what comes behind cannot be counted.
    pub fn inputs(&self) -> Inputs {
        let mut inputs = Inputs {
            seed: self.seed(),
            keys: self.keys(),
            ..Inputs::default()
        };
        if self.mode() != Mode::Serial {
            return inputs;
        }
        for stream in &self.streams {
            for (block, ordinal) in stream.blocks.iter().zip(0..) {
                let found = self.image.block_at(block.start);
                let found = found
                    .filter(|(header, words)| block.ordinal == ordinal && header.matches(words));
                let is_whole = found.is_some_and(|(header, words)| {
                    inputs.collect(header.thread, words, header.has_values())
                });
                self.image.release_block(block.start);
                if !is_whole {
                    return inputs;
                }
            }
        }
        inputs
    }

    /// The keys of all threads whose creators are known.
    fn keys(&self) -> BTreeMap<ThreadId, u64> {
        let mut keys = BTreeMap::from([(ThreadId(0), FIRST_THREAD)]);
        let mut created: BTreeMap<ThreadId, u64> = BTreeMap::new();
        for (thread, number) in self.tables.threads.iter().zip(0..) {
            // A creator's number is smaller, so its key is known by now.
            let Some(parent) = thread.parent else {
                continue;
            };
            let nth = created.entry(parent).or_default();
            if let Some(key) = keys.get(&parent) {
                keys.insert(ThreadId(number), wire::child(*key, *nth));
            }
            *nth += 1;
        }
        keys
    }
}

impl Inputs {
    /// Collects those of a block; false if events are missing in it.
    fn collect(&mut self, thread: u32, mut words: &[u64], values: bool) -> bool {
        let mut thread = ThreadId(thread);
        while let Some(&first) = words.first() {
            let second = words.get(1).copied().unwrap_or(0);
            let length = word::record_len(first, second, values);
            let Some((_, behind)) = length.and_then(|length| words.split_at_checked(length)) else {
                return false;
            };
            words = behind;
            if word::tag(first) != word::EXT {
                continue;
            }
            match word::detail(first) & 0xFF {
                ext::SWITCH => thread = ThreadId(word::addr(first) as u32),
                ext::LOST => return false,
                ext::INPUT => match word::addr(first) as u32 {
                    wire::kind::SEED => self.seed = second,
                    kind => {
                        let value = second;
                        let inputs = self.threads.entry(thread).or_default();
                        inputs.push(Input { kind, value });
                    }
                },
                _ => {}
            }
        }
        true
    }

    /// The file for a run that is to be the same: the value of `DEADHEAT_INPUTS` is its path.
    pub fn to_bytes(&self) -> Vec<u8> {
        let threads = self.threads.iter();
        let threads: Vec<(u64, &[Input])> = threads
            .filter_map(|(thread, inputs)| Some((*self.keys.get(thread)?, &inputs[..])))
            .collect();
        let values: usize = threads.iter().map(|(_, inputs)| inputs.len()).sum();
        let mut words = vec![
            u64::from_le_bytes(MAGIC),
            u64::from(VERSION) | (threads.len() as u64) << 32,
            self.seed,
            values as u64,
        ];
        let mut first = 0;
        for (key, inputs) in &threads {
            words.extend([*key, first, inputs.len() as u64]);
            first += inputs.len() as u64;
        }
        for input in threads.iter().flat_map(|(_, inputs)| *inputs) {
            words.extend([input.value, input.kind.into()]);
        }
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}
