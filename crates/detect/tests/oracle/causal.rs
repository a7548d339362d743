//! Weak-causally-precedes and causally-precedes, straight from their definitions: the rules are
//! applied to all pairs of sections and steps until nothing changes.

use std::collections::BTreeSet;
use std::ops::Range;

use deadheat_trace::{LockId, Op, Step, ThreadId, Trace};

use super::order::{Before, Rules, conflicts, is_direct, renews, touched};

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The end of the first section is put before what conflicts, or before the end of the second.
    Weak,
    /// The end of the first section is put before the beginning of the second.
    Strong,
}

/// Which step lies before which, in a part of a trace.
pub struct Lies {
    part: Range<usize>,
    /// By the earlier step, then the later one.
    before: Vec<Vec<bool>>,
}

/// The steps of a thread from taking a lock to giving it back.
struct Section {
    thread: ThreadId,
    lock: LockId,
    shared: bool,
    begin: usize,
    end: Option<usize>,
    steps: Vec<usize>,
}

impl Lies {
    pub fn new(trace: &Trace, part: Range<usize>, relation: Relation) -> Self {
        let steps = &trace.steps;
        let happens = Before::new(trace, &Rules::happens_before(trace));
        let mut lies = Lies {
            before: vec![vec![false; steps.len()]; steps.len()],
            part: part.clone(),
        };
        for j in part.clone() {
            for i in part.start..j {
                let message = is_direct(steps, i, j, &Rules::messages());
                let ends = [i, j].map(|at| &steps[at].event);
                // The message goes through the thread that is created and joined.
                let by_thread = ends.map(|event| event.op()) == [Op::Fork, Op::Join]
                    && ends[0].peer() == ends[1].peer();
                let to_another = ends[0].thread() != ends[1].thread();
                lies.before[i][j] = message && (to_another || by_thread);
            }
        }
        let sections = sections(steps);
        let mut changed = true;
        while changed {
            changed = false;
            for first in &sections {
                for second in sections.iter().filter(|second| first.excludes(second)) {
                    changed |= lies.apply(steps, first, second, relation);
                }
            }
            changed |= lies.close(&happens);
        }
        lies
    }

    /// All pairs of conflicting steps of the part that are not ordered.
    pub fn races(&self, trace: &Trace) -> BTreeSet<(usize, usize)> {
        let pairs = conflicts(trace).into_iter();
        let inside = |(i, j): &(usize, usize)| self.part.contains(i) && self.part.contains(j);
        pairs
            .filter(inside)
            .filter(|(i, j)| !self.before[*i][*j])
            .collect()
    }

    fn put(&mut self, earlier: usize, later: usize) -> bool {
        let inside = self.part.contains(&earlier) && self.part.contains(&later);
        inside && !std::mem::replace(&mut self.before[earlier][later], true)
    }

    /// Rules (a) and (b) for two sections.
    fn apply(
        &mut self,
        steps: &[Step],
        one: &Section,
        other: &Section,
        relation: Relation,
    ) -> bool {
        let Some(end) = one.end else { return false };
        let inside = |step: &&usize| self.part.contains(*step);
        let firsts: Vec<usize> = one.steps.iter().filter(inside).copied().collect();
        let seconds: Vec<usize> = other.steps.iter().filter(inside).copied().collect();
        let mut changed = false;
        for &a in &firsts {
            for &b in &seconds {
                if depend(steps, a, b) {
                    changed |= match relation {
                        Relation::Weak => self.put(end, b),
                        Relation::Strong => self.put(end, other.begin),
                    };
                }
                if self.before[a][b] {
                    changed |= match (relation, other.end) {
                        (Relation::Weak, None) => false,
                        (Relation::Weak, Some(other_end)) => self.put(end, other_end),
                        (Relation::Strong, _) => self.put(end, other.begin),
                    };
                }
            }
        }
        changed
    }

    /// Rule (c).
    fn close(&mut self, happens: &Before) -> bool {
        let mut changed = false;
        let part = self.part.clone();
        let before = |i: usize, j: usize| i == j || i < j && happens.is_before(i, j);
        for a in part.clone() {
            for b in a + 1..part.end {
                let through = |k: usize| {
                    before(a, k) && self.before[k][b] || self.before[a][k] && before(k, b)
                };
                if !self.before[a][b] && part.clone().any(through) {
                    changed |= self.put(a, b);
                }
            }
        }
        changed
    }
}

impl Section {
    fn excludes(&self, later: &Section) -> bool {
        self.begin < later.begin
            && self.lock == later.lock
            && self.thread != later.thread
            && !(self.shared && later.shared)
    }
}

/// Whether two steps access common memory, and one of them changes it.
fn depend(steps: &[Step], a: usize, b: usize) -> bool {
    let changes = |k: usize| steps[k].event.op().writes() || steps[k].event.op() == Op::Free;
    let (a, b) = (a.min(b), a.max(b));
    let same_life = |byte: &u64| !steps[a + 1..b].iter().any(|step| renews(step, *byte));
    let common: BTreeSet<u64> = &touched(steps, a) & &touched(steps, b);
    (changes(a) || changes(b)) && common.iter().any(same_life)
}

/// All sections; of a lock that is taken again while it is held, the outermost.
fn sections(steps: &[Step]) -> Vec<Section> {
    let mut all: Vec<Section> = Vec::new();
    let mut open: Vec<(usize, u32)> = Vec::new();
    for (i, step) in steps.iter().enumerate() {
        let event = &step.event;
        let (takes, shared) = match event.op() {
            Op::Acquire => (Some(true), false),
            Op::ReadAcquire => (Some(true), true),
            Op::Release => (Some(false), false),
            Op::ReadRelease => (Some(false), true),
            _ => (None, false),
        };
        let mine = |section: &Section| section.thread == event.thread();
        let same = |section: &Section| {
            mine(section) && section.lock == event.lock() && section.shared == shared
        };
        let at = open.iter().position(|(section, _)| same(&all[*section]));
        match (takes, at) {
            (Some(true), Some(at)) => open[at].1 += 1,
            (Some(true), None) => {
                open.push((all.len(), 1));
                all.push(Section {
                    thread: event.thread(),
                    lock: event.lock(),
                    shared,
                    begin: i,
                    end: None,
                    steps: Vec::new(),
                });
            }
            _ => {}
        }
        for (section, _) in &open {
            if mine(&all[*section]) {
                all[*section].steps.push(i);
            }
        }
        if let (Some(false), Some(at)) = (takes, at) {
            open[at].1 -= 1;
            if open[at].1 == 0 {
                all[open.remove(at).0].end = Some(i);
            }
        }
    }
    all
}
