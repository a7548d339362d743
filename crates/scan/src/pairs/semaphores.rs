//! A semaphore for one is a lock only if whoever gives it back has it. One that somebody else gives back is a message, and keeps nobody apart.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::analysis::Analysis;
use crate::path::PathId;
use crate::summary::{Deed, What};

/// Takes semaphores that are no locks out of all locksets and histories.
pub fn without_messages(analysis: &Analysis, of_root: &mut [Vec<Deed>]) {
    let mut messages: BTreeSet<(u32, i64)> = BTreeSet::new();
    for deed in of_root.iter().flatten() {
        let (What::Signal, Some(target)) = (deed.what, deed.target) else {
            continue;
        };
        let has_it = deed
            .moment
            .held
            .iter()
            .any(|held| Some(held.lock) == deed.path);
        if !has_it && analysis.is_binary(target) {
            messages.insert((target.class.number(), target.offset));
        }
    }
    if messages.is_empty() {
        return;
    }
    let mut names: BTreeSet<PathId> = BTreeSet::new();
    for deed in of_root.iter().flatten() {
        let is_message =
            |target: Option<(u32, i64)>| target.is_some_and(|at| messages.contains(&at));
        let own = deed
            .target
            .map(|target| (target.class.number(), target.offset));
        if matches!(deed.what, What::Lock(_)) && is_message(own) {
            names.extend(deed.path);
        }
        let held = deed
            .moment
            .held
            .iter()
            .filter(|held| is_message(held.target));
        names.extend(held.map(|held| held.lock));
    }
    for deed in of_root.iter_mut().flatten() {
        let moment = Rc::make_mut(&mut deed.moment);
        moment.held.retain(|held| !names.contains(&held.lock));
        for held in &mut moment.held {
            held.since.retain(|lock| !names.contains(lock));
        }
    }
}
