//! Tells the order solver about rules, one broken instance at a time.
//!
//! The cut is a node of its own; an event is executed if it is before the cut. Literals say "before",
//! "sees this write", "is given by that one", and "all reads of a thread before a place see what
//! they saw".

use deadheat_order::{Limit, Lit, Model as Solved, Node, Outcome, Solver};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Broken;
use crate::model::{Model, NONE, Seen};
use crate::question::Question;
use crate::saturate::Saturation;

/// A question as the order solver sees it.
pub struct Encoder<'a, 'm, 'w> {
    question: &'a Question<'m, 'w>,
    model: &'m Model<'w>,
    must: &'a Saturation<'m, 'w>,
    solver: Solver,
    cut: Node,
    /// What a needed read sees in an atom: the possibilities that the solver knows of.
    sees: FxHashMap<(u32, u32), Vec<(Seen, Lit)>>,
    /// Pairs of reads and writes between whose write and read another write was told not to be.
    kept_out: FxHashSet<(u32, u32, Seen, u32)>,
    /// "All reads of this thread before this place see what they saw."
    all_before: FxHashMap<(u32, u32), Lit>,
    /// Who gives to an event: the giver (or which of those at the border) and its literal.
    given: FxHashMap<u32, Vec<(Giver, Lit)>>,
    told: FxHashSet<Told>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Giver {
    Event(u32),
    Border(u32),
}

/// What the solver was told already.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Told {
    Sections(u32, u32),
    /// A read is needed because of this literal's place.
    Need(u32, u32, u32),
    End(u32, u32),
}

impl<'a, 'm, 'w> Encoder<'a, 'm, 'w> {
    /// Starts with what must be. `None`: that is impossible.
    pub fn new(question: &'a Question<'m, 'w>, must: &'a Saturation<'m, 'w>) -> Option<Self> {
        let model = question.model;
        let mut chains: Vec<u32> = model
            .threads
            .chains
            .iter()
            .map(|chain| chain.len() as u32)
            .collect();
        chains.push(1);
        let solver = Solver::new(&chains);
        let cut = solver.node(chains.len() as u32 - 1, 0);
        let mut encoder = Encoder {
            question,
            model,
            must,
            solver,
            cut,
            sees: FxHashMap::default(),
            kept_out: FxHashSet::default(),
            all_before: FxHashMap::default(),
            given: FxHashMap::default(),
            told: FxHashSet::default(),
        };
        for (thread, most) in question.most.iter().enumerate() {
            if let Some(last) = must.taken[thread].checked_sub(1) {
                let last = encoder.node(model.event(thread, last));
                encoder.solver.add_edge(last, cut).ok()?;
            }
            if (*most as usize) < model.threads.chains[thread].len() {
                let first = encoder.node(model.event(thread, *most));
                encoder.solver.add_edge(cut, first).ok()?;
            }
        }
        let can_be = |event: u32| model.index(event) < question.most[model.thread(event)];
        for (from, to) in model.hard.edges().iter().chain(&must.edges) {
            if can_be(*to) {
                let (from, to) = (encoder.node(*from), encoder.node(*to));
                encoder.solver.add_edge(from, to).ok()?;
            }
        }
        Some(encoder)
    }

    fn node(&mut self, event: u32) -> Node {
        let node = self
            .solver
            .node(self.model.thread(event) as u32, self.model.index(event));
        self.solver.suggest_rank(node, u64::from(event));
        node
    }

    /// About how much the solver was told: literals and clauses.
    pub fn size(&self) -> usize {
        self.solver.size()
    }

    /// How much work the solver has done.
    pub fn work(&self) -> u64 {
        self.solver.statistics().work()
    }

    /// Solves what was told so far.
    pub fn solve(&mut self, limit: &Limit) -> Outcome {
        self.solver.solve(&[], limit)
    }

    /// How many events of each thread a solution executes.
    pub fn executed(&self, solved: &Solved) -> Vec<u32> {
        let mut executed = solved.downset(self.cut);
        executed.truncate(self.model.threads.count());
        executed
    }

    /// Before which places all reads are needed in a solution.
    pub fn all_before(&self, solved: &Solved, executed: &[u32]) -> Vec<u32> {
        let mut all = self.must.all_before.clone();
        for (join, peer, before) in &self.model.threads.silent_joins {
            if self.model.index(*join) < executed[self.model.thread(*join)] {
                let known = &mut all[*peer as usize];
                *known = (*known).max(*before);
            }
        }
        for ((thread, place), lit) in &self.all_before {
            if solved.is_true(*lit) {
                let known = &mut all[*thread as usize];
                *known = (*known).max(*place);
            }
        }
        all
    }

    /// The edges between events in a solution.
    pub fn edges(&self, solved: &Solved) -> Vec<(u32, u32)> {
        let threads = self.model.threads.count() as u32;
        let event = |node: Node| {
            let (chain, index) = (node.chain(), node.index());
            (chain < threads).then(|| self.model.event(chain as usize, index))
        };
        let edges = solved
            .edges()
            .filter_map(|(from, to)| Some((event(from)?, event(to)?)));
        edges.collect()
    }

    fn before(&mut self, one: u32, other: u32) -> Lit {
        let (one, other) = (self.node(one), self.node(other));
        self.solver.before(one, other)
    }

    /// Where a read reads. One that is next does so at the cut.
    fn reading(&mut self, read: u32) -> Node {
        match self.question.next.contains(&read) {
            true => self.cut,
            false => self.node(read),
        }
    }

    /// "This write comes before that read."
    fn before_read(&mut self, write: u32, read: u32) -> Lit {
        let (write, read) = (self.node(write), self.reading(read));
        self.solver.before(write, read)
    }

    /// "This write comes after that read."
    fn after_read(&mut self, write: u32, read: u32) -> Lit {
        let (write, read) = (self.node(write), self.reading(read));
        self.solver.before(read, write)
    }

    /// "This event is not executed"; false if it must be.
    fn is_left_out(&mut self, event: u32) -> Lit {
        let thread = self.model.thread(event);
        if self.model.index(event) < self.must.taken[thread] {
            return Lit::FALSE;
        }
        let node = self.node(event);
        self.solver.before(self.cut, node)
    }

    /// Whether an event can be executed at all.
    fn can_be(&self, event: u32) -> bool {
        self.model.index(event) < self.question.most[self.model.thread(event)]
    }

    /// Tells of a rule that was broken. Whether that was new.
    pub fn tell(&mut self, broken: &Broken, solved: &Solved) -> bool {
        match *broken {
            Broken::Sections(one, other) => self.tell_sections(one, other),
            Broken::Read { read, atom, sees } => self.tell_read(read, atom, sees, solved),
            Broken::Token(event) => self.tell_tokens(event),
            Broken::End { end, usage } => {
                if !self.told.insert(Told::End(end, usage)) {
                    return false;
                }
                let clause = [
                    self.before(usage, end),
                    self.is_left_out(end),
                    self.is_left_out(usage),
                ];
                self.solver.add_clause(&clause);
                true
            }
            Broken::Early(_) => false,
        }
    }

    /// One section is over before the other begins, or one of them is not executed.
    fn tell_sections(&mut self, one: u32, other: u32) -> bool {
        if !self.told.insert(Told::Sections(one, other)) {
            return false;
        }
        let sections = [one, other].map(|number| self.model.locks.sections[number as usize]);
        let mut clause = Vec::new();
        for (first, second) in [(0, 1), (1, 0)] {
            let (release, acquire) = (sections[first].release, sections[second].acquire);
            if release != NONE && acquire != NONE && self.can_be(release) {
                clause.push(self.before(release, acquire));
            }
            if acquire != NONE {
                clause.push(self.is_left_out(acquire));
            }
        }
        self.solver.add_clause(&clause);
        true
    }

    fn tell_read(&mut self, read: u32, atom: u32, sees: Seen, solved: &Solved) -> bool {
        let key = (read, atom);
        let mut told = false;
        if !self.sees.contains_key(&key) {
            self.offer(read, atom);
            told = true;
        }
        told |= self.tell_need(read, atom, solved);
        // Another write came between.
        let chosen = self.sees[&key]
            .iter()
            .find(|(_, lit)| solved.is_true(*lit))
            .copied();
        if let Some((seen, lit)) = chosen
            && seen != sees
            && let Seen::Write(other) = sees
        {
            told |= self.keep_out(read, atom, seen, lit, other);
        }
        told
    }

    /// What a read can see, with what each needs.
    fn offer(&mut self, read: u32, atom: u32) {
        let model = self.model;
        let part = model.memory.part(read, atom);
        let all: Vec<Seen> = part
            .into_iter()
            .flat_map(|part| model.memory.same(part))
            .collect();
        let mut offers = Vec::new();
        for seen in all {
            let lit = match seen {
                Seen::Initial => self.offer_initial(read, atom),
                Seen::Write(write) => self.offer_write(read, write),
            };
            offers.extend(lit.map(|lit| (seen, lit)));
        }
        // What it did see is the best guess: the window's own order kept to all rules.
        if let Some((_, lit)) = offers.first() {
            self.solver.prefer(*lit);
        }
        self.sees.insert((read, atom), offers);
    }

    fn offer_initial(&mut self, read: u32, atom: u32) -> Option<Lit> {
        let lit = self.solver.new_variable();
        for (_, writes) in &self.model.memory.writes[atom as usize] {
            let first = writes[0];
            if first == read {
                continue;
            }
            let before = self.after_read(first, read);
            if before == Lit::FALSE {
                return None;
            }
            self.solver.add_clause(&[!lit, before]);
        }
        Some(lit)
    }

    fn offer_write(&mut self, read: u32, write: u32) -> Option<Lit> {
        if !self.can_be(write) || write == read {
            return None;
        }
        let before = self.before_read(write, read);
        if before == Lit::FALSE {
            return None;
        }
        let lit = self.solver.new_variable();
        self.solver.add_clause(&[!lit, before]);
        let place = self.model.needs_all_before(write);
        let all = self.all_see(self.model.thread(write) as u32, place);
        self.solver.add_clause(&[!lit, all]);
        for (other, upto) in self.model.memory.strict(write) {
            let last = self.model.event(*other as usize, *upto - 1);
            let done = self.before(last, write);
            let all = self.all_see(*other, *upto);
            self.solver.add_clause(&[!lit, done]);
            self.solver.add_clause(&[!lit, all]);
        }
        Some(lit)
    }

    /// "All reads of a thread before a place see what they saw." What follows is told when it is
    /// broken.
    fn all_see(&mut self, thread: u32, place: u32) -> Lit {
        if self.must.all_before[thread as usize] >= place {
            return Lit::TRUE;
        }
        // Where no read comes in between, places are the same.
        let reads = &self.model.memory.reads[thread as usize];
        let before = reads.partition_point(|read| self.model.index(*read) < place);
        let Some(last) = before.checked_sub(1) else {
            return Lit::TRUE;
        };
        let place = self.model.index(reads[last]) + 1;
        if self.must.all_before[thread as usize] >= place {
            return Lit::TRUE;
        }
        if let Some(lit) = self.all_before.get(&(thread, place)) {
            return *lit;
        }
        let lit = self.solver.new_variable();
        self.all_before.insert((thread, place), lit);
        lit
    }

    /// A read is needed: it sees one of the things that it can see.
    fn tell_need(&mut self, read: u32, atom: u32, solved: &Solved) -> bool {
        let model = self.model;
        let (thread, index) = (model.thread(read), model.index(read));
        let offers: Vec<Lit> = self.sees[&(read, atom)]
            .iter()
            .map(|(_, lit)| *lit)
            .collect();
        let mut told = false;
        let mut tell = |encoder: &mut Self, reason: u32, unless: Lit| {
            if encoder.told.insert(Told::Need(read, atom, reason)) {
                let mut clause = offers.clone();
                clause.push(unless);
                encoder.solver.add_clause(&clause);
                told = true;
            }
        };
        let need = model.memory.needed[read as usize];
        let must_need = self.question.next.contains(&read)
            || index < self.must.all_before[thread]
            || need < self.question.needing(thread, self.must.taken[thread]);
        if must_need {
            let unless = match self.question.next.contains(&read) {
                true => Lit::FALSE,
                false => self.is_left_out(read),
            };
            tell(self, NONE, unless);
            return told;
        }
        if need != NONE {
            let needer = model.event(thread, need);
            let unless = self.is_left_out(needer);
            tell(self, need, unless);
        }
        for (join, peer, before) in &model.threads.silent_joins {
            if *peer as usize == thread && index < *before {
                let unless = self.is_left_out(*join);
                // Positions of joins are told apart from places by the second highest bit.
                tell(self, join | 1 << 30, unless);
            }
        }
        let all: Vec<(u32, Lit)> = self
            .all_before
            .iter()
            .filter(|((other, place), lit)| {
                *other as usize == thread && *place > index && solved.is_true(**lit)
            })
            .map(|((_, place), lit)| (*place, *lit))
            .collect();
        for (place, lit) in all {
            // Places of writes are told apart from those of needs by the highest bit.
            tell(self, place | 1 << 31, !lit);
        }
        told
    }

    /// A read that sees one write: another is before that, or after the read.
    fn keep_out(&mut self, read: u32, atom: u32, seen: Seen, lit: Lit, other: u32) -> bool {
        if !self.kept_out.insert((read, atom, seen, other)) {
            return false;
        }
        let mut clause = vec![!lit];
        if let Seen::Write(write) = seen {
            clause.push(self.before(other, write));
        }
        if other != read {
            clause.push(self.after_read(other, read));
        }
        self.solver.add_clause(&clause);
        true
    }

    /// Each that needs a giver of the same object has one of its own.
    fn tell_tokens(&mut self, event: u32) -> bool {
        let model = self.model;
        let Some(consumer) = model.tokens.consumer(event) else {
            return false;
        };
        let object = &model.tokens.objects[consumer.object as usize];
        if self.given.contains_key(&event) {
            return false;
        }
        let mut users: FxHashMap<Giver, Vec<Lit>> = FxHashMap::default();
        for number in &object.consumers {
            let consumer = &model.tokens.consumers[*number as usize];
            if !self.can_be(consumer.event) {
                continue;
            }
            let mut offers = Vec::new();
            for (giver, _) in &object.givers {
                if !self.can_be(*giver) {
                    continue;
                }
                let before = self.before(*giver, consumer.event);
                let since = match consumer.since {
                    NONE => Lit::TRUE,
                    since => self.before(since, *giver),
                };
                if before != Lit::FALSE && since != Lit::FALSE {
                    let lit = self.solver.new_variable();
                    self.solver.add_clause(&[!lit, before]);
                    self.solver.add_clause(&[!lit, since]);
                    offers.push((Giver::Event(*giver), lit));
                }
            }
            for token in 0..object.at_border {
                offers.push((Giver::Border(token), self.solver.new_variable()));
            }
            let mut clause: Vec<Lit> = offers.iter().map(|(_, lit)| *lit).collect();
            clause.push(self.is_left_out(consumer.event));
            self.solver.add_clause(&clause);
            for (giver, lit) in &offers {
                let is_for_all =
                    matches!(giver, Giver::Event(event) if model.tokens.serves_all(*event));
                if is_for_all {
                    continue;
                }
                let others = users.entry(*giver).or_default();
                for other in others.iter() {
                    self.solver.add_clause(&[!*lit, !*other]);
                }
                others.push(*lit);
            }
            self.given.insert(consumer.event, offers);
        }
        true
    }
}
