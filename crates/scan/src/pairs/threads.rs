//! May two deeds happen at the same time? By who created whose thread, and who waited for it.

use std::collections::BTreeMap;

use crate::analysis::Spawn;
use crate::path::Site;
use crate::summary::Deed;

/// How two deeds can come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// In threads that are different anyhow: the first so many creations of threads are the same for both.
    Apart(usize),
    /// In two threads that were created at the same place, by the creation of this number.
    Twins(usize),
    /// In two calls from outside of the program: they have nothing in common but what is global or given to both.
    Strangers,
}

/// All ways in which two deeds of one root can happen at the same time.
pub fn together(
    spawns: &BTreeMap<Site, Spawn>,
    is_parallel: bool,
    one: &Deed,
    other: &Deed,
) -> Vec<Together> {
    let pairs = one.chain.iter().zip(&other.chain);
    let common = pairs.take_while(|(one, other)| one == other).count();
    let mut ways = Vec::new();
    // The first of the common creations that can be in progress twice is enough: below it everything is there twice.
    let twin = one.chain[..common].iter().position(|site| {
        let spawn = &spawns[site];
        spawn.is_multiple && spawn.live_before.contains(site)
    });
    ways.extend(twin.map(Together::Twins));
    if is_parallel {
        ways.push(Together::Strangers);
    }
    let is_apart = match (one.chain.get(common), other.chain.get(common)) {
        (None, None) => false,
        (None, Some(child)) => one.moment.live.contains(child),
        (Some(child), None) => other.moment.live.contains(child),
        (Some(left), Some(right)) => {
            spawns[left].live_before.contains(right) || spawns[right].live_before.contains(left)
        }
    };
    if is_apart {
        ways.push(Together::Apart(common));
    }
    ways
}

/// In how many creations of threads deep the frame of a function lies that is on the way to a deed; `None` if it is not on it.
pub fn level(
    spawns: &BTreeMap<Site, Spawn>,
    deed: &Deed,
    function: crate::ir::FunctionId,
) -> Option<usize> {
    let mut level = 0;
    let mut found = None;
    for site in deed.calls.iter() {
        if site.function == function {
            found = Some(level);
        }
        level += usize::from(spawns.contains_key(site) && deed.chain.get(level) == Some(site));
    }
    match deed.site.function == function {
        true => Some(level),
        false => found,
    }
}
