//! Who needs reads to see what they saw, also in memory that only their own thread uses.
//!
//! A read of its thread's own memory sees what it saw if the thread's own last write wrote what it
//! wrote, for which all earlier reads of the thread must have seen what they saw. So whoever needs
//! the one needs the others.

use rustc_hash::FxHashMap;

use super::atoms::Atoms;
use crate::Window;
use crate::model::NONE;
use crate::model::threads::Threads;

/// For each read: the place in its thread of the first event that needs it to see what it saw;
/// [`NONE`] if there is none, and for all other events.
pub fn of(window: &Window, threads: &Threads, atoms: &Atoms) -> Vec<u32> {
    let count = window.steps.len();
    let mut needed: Vec<u32> = (0..count)
        .map(|position| match window.needed_by.get(position) {
            Some(by) if (*by as usize) < count && window.steps[position].event.op().reads() => {
                threads.index[*by as usize]
            }
            _ => NONE,
        })
        .collect();
    let own_reads = own_reads(window, atoms);
    // Of each write that needed reads saw: the first event that needs one of them.
    let mut of_write: FxHashMap<u32, u32> = FxHashMap::default();
    for chain in &threads.chains {
        // The same of all writes behind the present place.
        let mut behind = NONE;
        for event in chain.iter().rev() {
            behind = behind.min(of_write.get(event).copied().unwrap_or(NONE));
            if !window.steps[*event as usize].event.op().reads() {
                continue;
            }
            let mine = &mut needed[*event as usize];
            *mine = (*mine).min(behind);
            if *mine == NONE {
                continue;
            }
            let first = own_reads.partition_point(|(read, _)| read < event);
            let writes = own_reads[first..]
                .iter()
                .take_while(|(read, _)| read == event);
            for (_, write) in writes {
                let known = of_write.entry(*write).or_insert(NONE);
                *known = (*known).min(*mine);
            }
        }
    }
    needed
}

/// The reads of memory that only their own thread uses, by their positions, each with the writes
/// that it saw.
fn own_reads(window: &Window, atoms: &Atoms) -> Vec<(u32, u32)> {
    let mut reads = Vec::new();
    let mut last_write = vec![NONE; atoms.count()];
    for (position, step) in window.steps.iter().enumerate() {
        let op = step.event.op();
        if !op.is_access() {
            continue;
        }
        for piece in atoms.pieces(position) {
            if piece.shared.is_some() || piece.is_only_read {
                continue;
            }
            if op.reads() && last_write[piece.atom] != NONE {
                reads.push((position as u32, last_write[piece.atom]));
            }
            if op.writes() {
                last_write[piece.atom] = position as u32;
            }
        }
    }
    reads
}
