//! All clauses, in one flat array, with the lists of who watches what.

use crate::literal::Lit;

/// Number of a clause. Numbers change when clauses are dropped.
pub(crate) type ClauseId = u32;

/// No clause.
pub(crate) const NO_CLAUSE: ClauseId = u32::MAX;

/// What is known of a clause besides its literals.
#[derive(Clone, Copy)]
pub(crate) struct Header {
    start: u32,
    len: u32,
    /// Learned from conflicts, rather than asked for.
    pub learned: bool,
    /// The serial of the youngest thing that it rests on.
    pub since: u32,
    /// Of a learned clause: on how many decisions its literals stood.
    pub spread: u32,
    /// Of a learned clause: how much it took part in conflicts lately.
    pub activity: f32,
}

/// A clause that watches a literal; nothing is to be done while `blocker` is true.
#[derive(Clone, Copy)]
pub(crate) struct Watcher {
    pub clause: ClauseId,
    pub blocker: Lit,
}

/// The clauses. The first two literals of each are watched.
pub(crate) struct Clauses {
    headers: Vec<Header>,
    lits: Vec<Lit>,
    /// Per literal: the clauses to look at when it becomes true, as they watch its negation.
    pub watchers: Vec<Vec<Watcher>>,
    /// The clauses that were asked for, each with a literal that held lately.
    asked: Vec<(ClauseId, Lit)>,
    learned: usize,
    step: f32,
}

impl Clauses {
    pub fn new() -> Clauses {
        Clauses {
            headers: Vec::new(),
            lits: Vec::new(),
            watchers: Vec::new(),
            asked: Vec::new(),
            learned: 0,
            step: 1.0,
        }
    }

    pub fn add_variable(&mut self) {
        self.watchers.push(Vec::new());
        self.watchers.push(Vec::new());
    }

    pub fn learned_count(&self) -> usize {
        self.learned
    }

    /// How many literals all of them have together.
    pub fn literals(&self) -> usize {
        self.lits.len()
    }

    pub fn header(&self, clause: ClauseId) -> &Header {
        &self.headers[clause as usize]
    }

    pub fn lits(&self, clause: ClauseId) -> &[Lit] {
        let header = &self.headers[clause as usize];
        &self.lits[header.start as usize..(header.start + header.len) as usize]
    }

    pub fn lits_mut(&mut self, clause: ClauseId) -> &mut [Lit] {
        let header = &self.headers[clause as usize];
        &mut self.lits[header.start as usize..(header.start + header.len) as usize]
    }

    /// How many clauses were asked for.
    pub fn asked_count(&self) -> usize {
        self.asked.len()
    }

    /// A clause that was asked for, by its place among these, and a literal that held lately.
    pub fn asked_clause(&self, place: usize) -> (ClauseId, Lit) {
        self.asked[place]
    }

    pub fn set_witness(&mut self, place: usize, lit: Lit) {
        self.asked[place].1 = lit;
    }

    /// The clauses that were asked for, each with a literal that held lately.
    pub fn asked(&self) -> impl Iterator<Item = (&[Lit], Lit)> {
        self.asked
            .iter()
            .map(|&(clause, witness)| (self.lits(clause), witness))
    }

    /// Adds a clause of at least two literals, of which the first two are to be watched.
    pub fn add(&mut self, lits: &[Lit], learned: bool, since: u32, spread: u32) -> ClauseId {
        let clause = self.headers.len() as ClauseId;
        self.headers.push(Header {
            start: self.lits.len() as u32,
            len: lits.len() as u32,
            learned,
            since,
            spread,
            activity: self.step,
        });
        self.lits.extend_from_slice(lits);
        self.learned += usize::from(learned);
        self.attach(clause);
        clause
    }

    fn attach(&mut self, clause: ClauseId) {
        let header = self.headers[clause as usize];
        let start = header.start as usize;
        let (first, second) = (self.lits[start], self.lits[start + 1]);
        self.watchers[(!first).code()].push(Watcher {
            clause,
            blocker: second,
        });
        self.watchers[(!second).code()].push(Watcher {
            clause,
            blocker: first,
        });
        if !header.learned {
            self.asked.push((clause, first));
        }
    }

    /// A learned clause took part in a conflict.
    pub fn bump(&mut self, clause: ClauseId) {
        self.headers[clause as usize].activity += self.step;
    }

    pub fn decay(&mut self) {
        self.step /= 0.999;
        if self.step > 1e20 {
            self.step /= 1e20;
            for header in &mut self.headers {
                header.activity /= 1e20;
            }
        }
    }

    /// Keeps only what `keep` says and the first `variables` variables. No clause may be the reason
    /// of anything that can still be undone.
    pub fn retain(&mut self, variables: usize, mut keep: impl FnMut(&Header) -> bool) {
        self.watchers.truncate(2 * variables);
        for list in &mut self.watchers {
            list.clear();
        }
        self.asked.clear();
        let mut end = 0;
        let lits = &mut self.lits;
        self.headers.retain_mut(|header| {
            let kept = keep(header);
            if kept {
                let from = header.start as usize..(header.start + header.len) as usize;
                header.start = end;
                lits.copy_within(from, end as usize);
                end += header.len;
            }
            kept
        });
        self.lits.truncate(end as usize);
        self.learned = 0;
        for clause in 0..self.headers.len() as u32 {
            self.learned += usize::from(self.header(clause).learned);
            self.attach(clause);
        }
    }

    /// Drops the half of the learned clauses that seems least useful.
    pub fn halve_learned(&mut self) {
        let mut order: Vec<ClauseId> = (0..self.headers.len() as ClauseId)
            .filter(|&clause| self.header(clause).learned && self.header(clause).spread > 2)
            .collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (self.header(a), self.header(b));
            b.activity.total_cmp(&a.activity)
        });
        let mut doomed = vec![false; self.headers.len()];
        for &clause in &order[order.len() / 2..] {
            doomed[clause as usize] = true;
        }
        let mut doomed = doomed.into_iter();
        self.retain(self.watchers.len() / 2, |_| !doomed.next().unwrap_or(false));
    }
}
