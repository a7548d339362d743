//! A thread's way through the code: the places where it made events, and the basic blocks that
//! it entered in between, as the compiler's coverage announced them.

use std::collections::{BTreeMap, BTreeSet};

use deadheat_trace::{Op, Pc, ThreadId};

use super::recording::Recording;

/// How basic blocks announce themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// A function's first block when the function has said that it was entered.
    AfterEntry,
    /// A function's first block before, as in programs by rustc.
    BeforeEntry,
}

/// What a thread did at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// One call of a hook or an intercepted function: one event or several.
    Call,
    /// Entered a function.
    Enter,
    /// Left it.
    Leave,
}

/// A place where a thread made events.
#[derive(Clone, Debug)]
pub struct Stop {
    /// What it did there.
    pub kind: Kind,
    /// Where; of [`Kind::Enter`] and [`Kind::Leave`]: the call in the caller.
    pub pc: Pc,
    /// The first of its steps in the trace.
    pub step: usize,
    /// The blocks that were entered since the stop before.
    pub blocks: Vec<Pc>,
    /// It may be half of a copy, whose halves stand in the trace in another order than in the code.
    pub is_moved: bool,
}

/// The stops of each thread, and the steps that are left for the thread's [`Walk`] when the
/// announcements of blocks are taken out.
///
/// `announced`: how blocks announce themselves.
///
/// [`Walk`]: deadheat_code::Walk
pub fn stops(recording: &Recording, announced: Blocks) -> Vec<(ThreadId, Vec<Stop>)> {
    let mut threads: BTreeMap<ThreadId, (Vec<Stop>, Vec<Pc>)> = BTreeMap::new();
    for (index, step) in recording.trace.steps.iter().enumerate() {
        let event = &step.event;
        let (stops, blocks) = threads.entry(event.thread()).or_default();
        if recording.is_marker(event) {
            if recording.is_block(event) {
                blocks.push(event.pc());
            }
            continue;
        }
        let kind = match event.op() {
            Op::Enter => Kind::Enter,
            Op::Leave => Kind::Leave,
            _ => Kind::Call,
        };
        let same_call =
            |last: &Stop| kind == Kind::Call && last.kind == kind && last.pc == event.pc();
        if blocks.is_empty() && stops.last().is_some_and(same_call) {
            continue;
        }
        stops.push(Stop {
            kind,
            pc: event.pc(),
            step: index,
            blocks: std::mem::take(blocks),
            is_moved: false,
        });
        if let [.., one, other] = &mut stops[..] {
            let read = &recording.trace.steps[one.step].event;
            let is_copy = read.op() == Op::Read && event.op() == Op::Write;
            if is_copy && other.blocks.is_empty() && other.pc < one.pc {
                (one.is_moved, other.is_moved) = (true, true);
            }
        }
    }
    let mut threads: Vec<_> = threads
        .into_iter()
        .map(|(thread, (stops, _))| (thread, stops))
        .collect();
    if announced == Blocks::BeforeEntry {
        let first = first_blocks(recording);
        for (_, stops) in &mut threads {
            move_inside(stops, |block| {
                let function = recording.function_of(block);
                function.is_some_and(|function| first.get(&function) == Some(&block))
            });
        }
    }
    let last = last_blocks(recording, threads.iter().map(|(_, stops)| &stops[..]));
    for (_, stops) in &mut threads {
        leave_out(stops, &last);
    }
    threads
}

/// Of each function the block with the lowest address: compilers put the first one there.
fn first_blocks(recording: &Recording) -> BTreeMap<u64, Pc> {
    let mut first = BTreeMap::new();
    for step in &recording.trace.steps {
        if recording.is_block(&step.event)
            && let Some(function) = recording.function_of(step.event.pc())
        {
            let lowest = first.entry(function).or_insert(step.event.pc());
            *lowest = step.event.pc().min(*lowest);
        }
    }
    first
}

/// Moves a function's first block behind the function's entry.
fn move_inside(stops: &mut [Stop], is_first: impl Fn(Pc) -> bool) {
    for at in 0..stops.len().saturating_sub(1) {
        if stops[at].kind == Kind::Enter
            && stops[at].blocks.last().is_some_and(|&pc| is_first(pc))
            && let Some(block) = stops[at].blocks.pop()
        {
            stops[at + 1].blocks.insert(0, block);
        }
    }
}

/// Blocks that functions enter when they have said that they are left: they follow on the end of
/// an activation, and are not the caller's.
fn last_blocks<'a>(
    recording: &Recording,
    threads: impl Iterator<Item = &'a [Stop]>,
) -> BTreeSet<Pc> {
    let mut last = BTreeSet::new();
    for stops in threads {
        for pair in stops.windows(2) {
            let caller = recording.function_of(pair[0].pc);
            if pair[0].kind == Kind::Leave {
                let blocks = pair[1].blocks.iter();
                last.extend(blocks.take_while(|pc| recording.function_of(**pc) != caller));
            }
        }
    }
    last
}

/// Leaves out these blocks where an activation has ended.
fn leave_out(stops: &mut [Stop], last: &BTreeSet<Pc>) {
    for at in 1..stops.len() {
        if stops[at - 1].kind == Kind::Leave {
            let blocks = &mut stops[at].blocks;
            let own = blocks.iter().position(|block| !last.contains(block));
            blocks.drain(..own.unwrap_or(blocks.len()));
        }
    }
}
