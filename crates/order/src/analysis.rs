//! What a conflict teaches: a clause, how far to go back, and which assumptions are to blame.
//!
//! The clause is that of the first unique implication point; literals that others of the clause
//! imply by their own reason are left out.

use crate::clauses::{ClauseId, NO_CLAUSE};
use crate::literal::Lit;
use crate::proof::Step;
use crate::solver::Solver;

/// What [`Solver::analyse`] found besides the clause itself.
struct Lesson {
    /// The level at which the clause forces its first literal.
    back_to: u32,
    since: u32,
    /// On how many levels its literals stand.
    spread: u32,
}

impl Solver {
    /// Learns from the conflict and goes back. Returns false if nothing can be solved any more.
    pub(crate) fn resolve_conflict(&mut self) -> bool {
        self.statistics.conflicts += 1;
        let levels = self.conflict.iter().map(|&lit| self.trail.level_of(lit));
        let top = levels.max().unwrap_or(0);
        if top == 0 {
            let since = self.conflict.iter().map(|&lit| self.trail.since(lit));
            let since = since.fold(self.conflict_since, u32::max);
            self.impossible_since = Some(since);
            self.record(|| Step::Follows(Vec::new()), since);
            return false;
        }
        self.undo_to(top);
        let lesson = self.analyse();
        self.undo_to(lesson.back_to);
        let learned = std::mem::take(&mut self.learned);
        self.record(|| Step::Follows(learned.clone()), lesson.since);
        if learned.len() == 1 {
            self.trail.assign(learned[0], NO_CLAUSE, lesson.since);
        } else {
            let clause = self
                .clauses
                .add(&learned, true, lesson.since, lesson.spread);
            self.assign_forced(learned[0], clause);
        }
        self.learned = learned;
        self.activity.decay();
        self.clauses.decay();
        true
    }

    /// Fills `learned` from `conflict`, of which some literal stands on the present level.
    fn analyse(&mut self) -> Lesson {
        let level = self.trail.level();
        let mut since = self.conflict_since;
        let mut open = 0;
        let mut place = self.trail.len();
        self.learned.clear();
        self.learned.push(Lit::FALSE);
        for k in 0..self.conflict.len() {
            open += u32::from(self.note(self.conflict[k], level, &mut since));
        }
        let point = loop {
            place -= 1;
            let lit = self.trail.lit(place);
            if !self.seen[lit.variable()] || self.trail.level_of(lit) != level {
                continue;
            }
            open -= 1;
            if open == 0 {
                break lit;
            }
            let reason = self.trail.reason(lit);
            self.took_part(reason);
            since = since.max(self.clauses.header(reason).since);
            for k in 1..self.clauses.lits(reason).len() {
                let other = self.clauses.lits(reason)[k];
                open += u32::from(self.note(other, level, &mut since));
            }
        };
        self.learned[0] = !point;
        self.leave_out_implied(&mut since);
        for variable in self.to_clear.drain(..) {
            self.seen[variable as usize] = false;
        }
        self.put_latest_second();
        Lesson {
            back_to: self
                .learned
                .get(1)
                .map_or(0, |&lit| self.trail.level_of(lit)),
            since,
            spread: self.spread(),
        }
    }

    /// A clause took part in a conflict.
    pub(crate) fn took_part(&mut self, clause: ClauseId) {
        if self.clauses.header(clause).learned {
            self.clauses.bump(clause);
        } else {
            self.recent.add(clause);
        }
    }

    /// Takes a false literal into account; returns whether it is of the present level.
    fn note(&mut self, lit: Lit, level: u32, since: &mut u32) -> bool {
        let variable = lit.variable();
        let at = self.trail.level_of(lit);
        if at == 0 {
            *since = self.trail.since(lit).max(*since);
            return false;
        }
        if self.seen[variable] {
            return false;
        }
        self.seen[variable] = true;
        self.to_clear.push(variable as u32);
        self.activity.bump(variable);
        if at < level {
            self.learned.push(lit);
        }
        at == level
    }

    /// Drops the literals that the others imply, through however many reasons.
    fn leave_out_implied(&mut self, since: &mut u32) {
        let levels = self.learned.iter().map(|&lit| self.trail.level_of(lit));
        let levels = levels.fold(0, |levels, level| levels | level_bit(level));
        let mut kept = 1;
        for k in 1..self.learned.len() {
            let lit = self.learned[k];
            match self.implied_since(lit, levels) {
                Some(reasons_since) => *since = reasons_since.max(*since),
                None => {
                    self.learned[kept] = lit;
                    kept += 1;
                }
            }
        }
        self.learned.truncate(kept);
    }

    /// If the literals that were seen imply `lit`: since when the reasons for that hold. `levels` has
    /// the levels of the clause: a literal on another one cannot be implied.
    fn implied_since(&mut self, lit: Lit, levels: u64) -> Option<u32> {
        let noted = self.to_clear.len();
        let mut since = 0;
        self.scratch.clear();
        self.scratch.push(lit);
        while let Some(lit) = self.scratch.pop() {
            let reason = self.trail.reason(lit);
            let known = reason != NO_CLAUSE;
            if !known || !self.follow_reason(reason, levels, &mut since) {
                for variable in self.to_clear.drain(noted..) {
                    self.seen[variable as usize] = false;
                }
                return None;
            }
        }
        Some(since)
    }

    /// Notes the false literals of a reason that were not seen yet; false if one is on none of
    /// `levels`.
    fn follow_reason(&mut self, reason: ClauseId, levels: u64, since: &mut u32) -> bool {
        *since = self.clauses.header(reason).since.max(*since);
        for &other in &self.clauses.lits(reason)[1..] {
            let level = self.trail.level_of(other);
            if level == 0 {
                *since = self.trail.since(other).max(*since);
            } else if !self.seen[other.variable()] {
                if levels & level_bit(level) == 0 {
                    return false;
                }
                self.seen[other.variable()] = true;
                self.to_clear.push(other.variable() as u32);
                self.scratch.push(other);
            }
        }
        true
    }

    /// The second literal is watched: let it be the one that becomes open first.
    fn put_latest_second(&mut self) {
        let latest = (1..self.learned.len()).max_by_key(|&k| self.trail.level_of(self.learned[k]));
        if let Some(k) = latest {
            self.learned.swap(1, k);
        }
    }

    /// On how many levels the literals of `learned` stand.
    fn spread(&mut self) -> u32 {
        self.levels.clear();
        let levels = self.learned.iter().map(|&lit| self.trail.level_of(lit));
        self.levels.extend(levels);
        self.levels.sort_unstable();
        self.levels.dedup();
        self.levels.len() as u32
    }

    /// The assumptions because of which the assumption `refused` is false, itself included.
    pub(crate) fn core(&mut self, refused: Lit) -> Vec<Lit> {
        let mut core = vec![refused];
        if self.trail.level_of(refused) > 0 {
            self.seen[refused.variable()] = true;
            for place in (self.trail.start(1)..self.trail.len()).rev() {
                let lit = self.trail.lit(place);
                if !std::mem::take(&mut self.seen[lit.variable()]) {
                    continue;
                }
                let reason = self.trail.reason(lit);
                if reason == NO_CLAUSE {
                    core.push(lit);
                    continue;
                }
                for &other in &self.clauses.lits(reason)[1..] {
                    if self.trail.level_of(other) > 0 {
                        self.seen[other.variable()] = true;
                    }
                }
            }
        }
        self.record(|| Step::Follows(core.iter().map(|&lit| !lit).collect()), {
            self.serial
        });
        core
    }
}

/// A bit for a level; distant levels share one.
fn level_bit(level: u32) -> u64 {
    1 << (level % 64)
}
