//! Pairs of accesses to the same memory that are no warnings, and what rules each out: for who wants to know how a variable is
//! protected elsewhere.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::analysis::Analysis;
use crate::model::Mode;
use crate::path::{PathId, Site};
use crate::summary::{Deed, What};

use super::alias::{self, Same};
use super::threads::{self, Together};
use super::{Done, Order, Pair, conflict, protect, same_lock};

/// Why two accesses do not race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Both hold this lock.
    Lock(PathId),
    /// Each has taken the other's lock since it took its own.
    Histories([PathId; 2]),
    /// Something orders them: a condition, a barrier, what runs once.
    Order,
    /// Their threads do not run at the same time.
    Threads,
}

/// A pair that was ruled out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RuledOut {
    /// The two statements.
    pub sites: [Site; 2],
    /// Whether each writes.
    pub writes: [bool; 2],
    /// By what.
    pub why: Why,
}

/// How many deeds are paired at most.
const MOST: usize = 400;

/// The pairs on the same memory as this one that were ruled out, each once. One that is a warning in another context is left out.
pub fn beside(analysis: &mut Analysis, done: &[Done], pair: &Pair) -> Vec<RuledOut> {
    let class = pair.deeds[0].target.map(|target| target.class);
    let mut found = BTreeSet::new();
    let mut open = BTreeSet::new();
    for done in done {
        let is_here = |deed: &&Rc<Deed>| deed.target.map(|target| target.class) == class;
        let deeds: Vec<&Rc<Deed>> = done.accesses.iter().filter(is_here).take(MOST).collect();
        for (at, one) in deeds.iter().enumerate() {
            for other in &deeds[at..] {
                if !conflict(one, other) || !is_about(analysis, pair, one, other) {
                    continue;
                }
                let sites = [one.site.min(other.site), one.site.max(other.site)];
                match judge(analysis, done, [one, other]) {
                    Judged::Open => drop(open.insert(sites)),
                    Judged::Elsewhere => {}
                    Judged::Out(why) => drop(found.insert(RuledOut {
                        sites,
                        writes: in_order([one, other], sites),
                        why,
                    })),
                }
            }
        }
    }
    let is_closed = |one: &RuledOut| !open.contains(&one.sites);
    found.into_iter().filter(is_closed).collect()
}

/// What a pair comes to.
enum Judged {
    /// It is a warning.
    Open,
    /// It is about different memory.
    Elsewhere,
    /// It is ruled out.
    Out(Why),
}

fn judge(analysis: &mut Analysis, done: &Done, [one, other]: [&Deed; 2]) -> Judged {
    let ways = threads::together(&analysis.spawns, done.is_parallel, one, other);
    if ways.is_empty() {
        // Within one thread there is nothing to rule out.
        return match one.chain == other.chain {
            true => Judged::Elsewhere,
            false => Judged::Out(Why::Threads),
        };
    }
    let mut last = Judged::Elsewhere;
    for way in ways {
        if alias::same(analysis, one, other, way) == Same::Never {
            continue;
        }
        last = Judged::Out(if let Some(lock) = common(analysis, one, other, way) {
            Why::Lock(lock)
        } else if let Some(locks) = protect::is_inconsistent(analysis, one, other, way) {
            Why::Histories(locks)
        } else if protect::order(analysis, done, one, other) == Order::Sure {
            Why::Order
        } else {
            return Judged::Open;
        });
    }
    last
}

/// The lock that both hold, one of them alone.
fn common(analysis: &mut Analysis, one: &Deed, other: &Deed, way: Together) -> Option<PathId> {
    for left in &one.moment.held {
        for right in &other.moment.held {
            let alone = left.mode == Mode::Write || right.mode == Mode::Write;
            let locks = [left.lock, right.lock];
            let is_same = protect::is_same_class(analysis, left, right)
                || same_lock::is_same_lock(analysis, [one, other], locks, way);
            if alone && is_same {
                return Some(left.lock);
            }
        }
    }
    None
}

/// Whether two accesses are of the variable that a pair is about, by its name where it has one.
fn is_about(analysis: &mut Analysis, pair: &Pair, one: &Deed, other: &Deed) -> bool {
    let mut plain = |deed: &Deed| deed.path.map(|path| analysis.paths.plain(path));
    let of_pair: Vec<_> = pair.deeds.iter().filter_map(|deed| plain(deed)).collect();
    let of_these: Vec<_> = [one, other].into_iter().filter_map(plain).collect();
    of_pair.is_empty() || of_these.iter().any(|path| of_pair.contains(path))
}

/// Which of the statements, in this order, write.
fn in_order(deeds: [&Deed; 2], sites: [Site; 2]) -> [bool; 2] {
    let writes = deeds.map(|deed| matches!(deed.what, What::Access { writes: true, .. }));
    match deeds[0].site == sites[0] {
        true => writes,
        false => [writes[1], writes[0]],
    }
}
