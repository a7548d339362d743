//! Which ways a program's threads were seen to go, over all of its runs, and what the facts said
//! about each step of the way.
//!
//! Two demands are made. *Straight is straight*: if the facts say that nothing is decided between
//! a place and the next event, every thread that is at the place enters the same blocks and comes
//! to the same event. *Edges are branches*: a thread that goes from a block with several
//! successors to one of them passes a branch.

use std::collections::{BTreeMap, BTreeSet};

use deadheat_trace::Pc;

use super::recording::Recording;
use super::stops::{Kind, Stop};

/// What the facts say about the way from one stop to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// No branch is passed.
    Straight,
    /// A branch is passed that depends on known reads.
    Branched,
    /// A branch is passed that depends on anything.
    Unknown,
}

/// Where a thread is in an activation of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// Behind a call of a hook, an intercepted function, or a function that has returned.
    After(Pc),
    /// In the function that starts here.
    Entry(u64),
    /// At a call that enters the function that starts here, if that is known.
    Call(Pc, Option<u64>),
    /// Where the function is left.
    Exit,
}

/// The blocks that a thread entered, and where it came to.
type Way = (Vec<Pc>, Place);

/// All that was seen.
#[derive(Default)]
pub struct Ways {
    /// From a place, what was said about each way that was seen.
    seen: BTreeMap<Place, BTreeMap<Way, BTreeSet<u8>>>,
    /// From a block, the blocks that followed in the same activation; `None`: it was left.
    successors: BTreeMap<Pc, BTreeSet<Option<Pc>>>,
    /// Edges that were passed without a branch.
    unbranched: BTreeMap<(Pc, Option<Pc>), Place>,
    /// Whether blocks announce themselves.
    has_blocks: bool,
    /// Pcs in the program itself.
    own_code: BTreeSet<Pc>,
    /// How many stops there were.
    pub stops: usize,
    /// How many of them had a branch before them.
    pub branched: usize,
    /// How many of these depend on anything.
    pub unknown: usize,
}

/// An activation of a function.
struct Activation {
    /// Where the thread is in it.
    at: Option<Place>,
    /// The block it is in, and how many branches the thread had passed when it came there.
    block: Option<(Pc, usize)>,
}

impl Ways {
    /// Adds what one thread did, and what was said about the way to each stop.
    pub fn add(&mut self, recording: &Recording, stops: &[Stop], said: &[Said]) {
        let mut activations = vec![Activation {
            at: None,
            block: None,
        }];
        let mut branches = 0;
        for (index, (stop, &said)) in stops.iter().zip(said).enumerate() {
            self.stops += 1;
            self.has_blocks |= !stop.blocks.is_empty();
            if recording.address(stop.pc).is_some() {
                self.own_code.insert(stop.pc);
            }
            self.branched += usize::from(said != Said::Straight);
            self.unknown += usize::from(said == Said::Unknown);
            let before = branches;
            branches += usize::from(said != Said::Straight);
            let to = match stop.kind {
                Kind::Call => Place::After(stop.pc),
                Kind::Enter => Place::Call(stop.pc, entered(recording, &stops[index + 1..])),
                Kind::Leave => Place::Exit,
            };
            let Some(activation) = activations.last_mut() else {
                return; // more functions are left than were entered
            };
            let known = !stop.is_moved && !matches!(to, Place::Call(_, None));
            if let (Some(from), true) = (activation.at, known) {
                let ways = self.seen.entry(from).or_default();
                let way = ways.entry((stop.blocks.clone(), to)).or_default();
                way.insert(said as u8);
            }
            let left = (stop.kind == Kind::Leave).then_some(None);
            for next in stop.blocks.iter().copied().map(Some).chain(left) {
                if let Some((block, passed)) = activation.block {
                    self.successors.entry(block).or_default().insert(next);
                    if passed == branches {
                        self.unbranched
                            .entry((block, next))
                            .or_insert(activation.at.unwrap_or(to));
                    }
                }
                activation.block = next.map(|block| (block, before));
            }
            // What was passed on the way to the last block does not count for the next one.
            if let (Some((_, passed)), false) = (&mut activation.block, stop.blocks.is_empty()) {
                *passed = branches;
            }
            // A block of a function that does not say when it is entered or left: where the thread
            // goes on in its caller is not that block's doing.
            let function = |pc| recording.function_of(pc);
            if activation
                .block
                .is_some_and(|(block, _)| function(block) != function(stop.pc))
            {
                activation.block = None;
            }
            activation.at = (!stop.is_moved).then_some(to);
            match to {
                Place::Call(pc, callee) => {
                    activation.at = Some(Place::After(pc));
                    activations.push(Activation {
                        at: callee.map(Place::Entry),
                        block: None,
                    });
                }
                Place::Exit => drop(activations.pop()),
                _ => {}
            }
        }
    }

    /// What contradicts the facts.
    pub fn contradictions(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (from, ways) in &self.seen {
            let is_straight = |said: &BTreeSet<u8>| said.contains(&(Said::Straight as u8));
            let straight = ways.iter().filter(|(_, said)| is_straight(said));
            let pairs = straight.flat_map(|(one, _)| ways.iter().map(move |other| (one, other)));
            let parted = pairs.into_iter().find(|(one, (other, said))| {
                let both = is_straight(said) && !is_abandoned(one, other);
                *one != *other && (both || self.parts(one, other))
            });
            if let Some((one, (other, _))) = parted {
                found.push(format!(
                    "straight from {from:x?} to {one:x?}, but seen to {other:x?}"
                ));
            }
        }
        for ((block, next), at) in &self.unbranched {
            let successors = &self.successors[block];
            if successors.len() > 1 {
                found.push(format!(
                    "no branch on the way from block {block} to {next:?}, at {at:x?}; it is \
                     followed by {successors:?}"
                ));
            }
        }
        found
    }

    /// Whether a way leaves a straight one. Where blocks announce themselves it does so by another
    /// block: in the same one there may be events that are not always made, such as those of a
    /// lock that is tried, of library code inside an intercepted function, or, in another order,
    /// those of a copy (gcc announces the write first; the trace has the read first if it can).
    fn parts(&self, straight: &Way, way: &Way) -> bool {
        if self.has_blocks {
            let both = straight.0.iter().zip(&way.0);
            return both.into_iter().any(|(one, other)| one != other);
        }
        match way.1 {
            Place::After(pc) | Place::Call(pc, _) => self.own_code.contains(&pc),
            Place::Entry(_) | Place::Exit => true,
        }
    }

    /// Counts for a table: ways, straight ones, branched ones, those of them that are the only
    /// way seen, and those of them that stay in one block.
    pub fn counts(&self) -> [usize; 5] {
        let mut counts = [0; 5];
        for ways in self.seen.values() {
            for ((blocks, to), said) in ways {
                counts[0] += 1;
                if said.contains(&(Said::Straight as u8)) {
                    counts[1] += 1;
                    continue;
                }
                counts[2] += 1;
                counts[3] += usize::from(ways.len() == 1);
                counts[4] +=
                    usize::from(blocks.is_empty() && *to != Place::Exit && ways.len() == 1);
            }
        }
        counts
    }
}

/// Whether one of two ways stops short of the other because the function is abandoned by a jump
/// (`longjmp`, an exception): that was decided where the jump is.
fn is_abandoned(one: &Way, other: &Way) -> bool {
    let short = |one: &Way, other: &Way| {
        one.1 == Place::Exit && other.0.len() > one.0.len() && other.0.starts_with(&one.0)
    };
    short(one, other) || short(other, one)
}

/// The function that was entered: that of the first pc behind.
fn entered(recording: &Recording, behind: &[Stop]) -> Option<u64> {
    let stop = behind.first()?;
    match (stop.blocks.first(), stop.kind) {
        (Some(&block), _) => recording.function_of(block),
        (None, Kind::Leave) => None,
        (None, _) => recording.function_of(stop.pc),
    }
}
