//! Scenarios about memory: parts that overlap, copies, heap blocks and who gives them back.

use super::generate::Builder;
use super::guards::{Guard, wrap};
use super::program::{Act, Value, Var};

/// An aligned part of eight bytes: where, and how wide.
fn part(b: &mut Builder) -> (u8, u8) {
    let width = b.rng.pick(&[1, 2, 4, 4, 8]).copied().unwrap_or(4);
    let at = b.rng.below(usize::from(8 / width));
    (u8::try_from(at).unwrap_or(0) * width, width)
}

/// Threads access parts of the same bytes, by widths of their own, or copy and fill them.
pub(super) fn overlap(b: &mut Builder) {
    let area = b.program.areas;
    b.program.areas += 1;
    let other = b.rng.percent(40).then(|| {
        b.program.areas += 1;
        area + 1
    });
    let mutex = b.rng.percent(30).then(|| b.mutex());
    for thread in b.participants(2) {
        let bytes = b.rng.pick(&[1, 2, 3, 4, 8]).copied().unwrap_or(8);
        let mut acts = match (b.rng.below(6), other) {
            (0, Some(other)) => {
                let (from, to) = (area, other);
                vec![Act::Copy { from, to, bytes }]
            }
            (1, Some(other)) => {
                let (from, to) = (other, area);
                vec![Act::Copy { from, to, bytes }]
            }
            (2, _) => {
                let value = 1 + u8::try_from(b.rng.below(3)).unwrap_or(0);
                vec![Act::Fill { area, value, bytes }]
            }
            (n, other) => {
                let area = if n == 3 { other.unwrap_or(area) } else { area };
                let (at, width) = part(b);
                b.accesses(Var::Part { area, at, width })
            }
        };
        if let Some(mutex) = mutex
            && b.rng.percent(75)
        {
            acts = wrap(Guard::Mutex(mutex), acts);
        }
        b.put(thread, acts);
    }
}

/// A heap block that all use and one gives back, perhaps too early. What is read from it goes nowhere: it may
/// be gone.
pub(super) fn heap(b: &mut Builder) {
    let block = b.program.blocks;
    b.program.blocks += 1;
    let mutex = b.rng.percent(40).then(|| b.mutex());
    let who = b.participants(2);
    let freeing = b.rng.percent(70).then(|| b.rng.below(who.len()));
    for (n, thread) in who.into_iter().enumerate() {
        let mut acts = Vec::new();
        for _ in 0..=usize::from(b.rng.percent(30)) {
            let (at, width) = part(b);
            let var = Var::Block { block, at, width };
            // A write into memory that is gone may do anything: only what is freed in the end is written to.
            acts.push(if freeing.is_some() || b.rng.percent(50) {
                Act::Touch { var }
            } else {
                let value = Value::Const(1);
                Act::Write { var, value }
            });
        }
        if freeing == Some(n) {
            if b.rng.percent(50) {
                acts.clear();
            }
            acts.push(Act::Free { block });
        }
        if let Some(mutex) = mutex {
            acts = wrap(Guard::Mutex(mutex), acts);
        }
        b.put(thread, acts);
    }
    if freeing.is_none() && b.rng.percent(80) {
        b.after.push(Act::Free { block }.into());
    }
}
