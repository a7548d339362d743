//! Dynamic partial-order reduction: of all orders that nobody can tell apart, one is run.
//!
//! Follows *Optimal Dynamic Partial Order Reduction* by Abdulla, Aronis, Jonsson and Sagonas (POPL 2014), with wakeup trees ([`super::tree`]) and
//! sleep sets (Godefroid 1996). Each place of the run as it stands is a [`Node`]: which turns are to be given there, which have been, and
//! which need not be because what they would do was seen already in another order. Deviations: the program runs on by itself, so
//! threads that sleep can only be asked to go last ([`super::Manner::last`]), and where one of them goes on though another could that does
//! not sleep, the run is cut off there and made again; a thread that cannot go on where it should is answered with all other threads (Flanagan and Godefroid,
//! POPL 2005); whoever was about to do something when the program ended races with its end, and not the other way
//! round, since ending earlier shows nothing that ending later does not show. Their paper leaves a row out if a thread that sleeps has nothing to do
//! with it. That holds if rows come from whole runs and tell all that is needed; as soon as one does not (a run was cut off, the
//! program died, a lock was given back between the two), only a thread that stands in the row keeps it out, as with their source
//! sets. That costs redundant runs and loses none.

use rustc_hash::FxHashSet;

use super::{
    execution::{Deed, Ending, Execution, Transition},
    findings::Findings,
    journal::{Beginning, Journal, could_go_on, ended_all, is_own, left_behind},
    node::{Later, Node},
    path,
    policy::{Learned, Policy, Trial},
    races::Race,
    tree::{Branch, Row, Would},
    visited::{Revisit, Step},
};

/// The search.
pub(super) struct Dpor {
    pub(super) journal: Journal,
    pub(super) nodes: Vec<Node>,
    /// All races of the run as it stands, in its order.
    laters: Vec<Later>,
    started: bool,
    pub(super) bound: Option<u32>,
    pub(super) put_off: u64,
    /// Who was asked to go last in this run.
    pub(super) last: u64,
    /// Not all who sleep could be asked.
    pub(super) unasked: bool,
    /// What is new in this run.
    branch: Option<Branch>,
    /// Where a thread in the middle of a row could not go on.
    stuck: Option<usize>,
    /// There was a run of which not everything is known.
    open: bool,
    threads: FxHashSet<u32>,
}

/// How a run comes to a place.
enum Entered {
    /// There is a node for it now.
    New,
    /// Who goes on sleeps there.
    Asleep(Box<Node>),
    /// The state is known.
    Known(Revisit),
}

impl Dpor {
    /// A search with at most so many preemptions, going on with what a journal has counted.
    pub(super) fn new(mut journal: Journal, bound: Option<u32>) -> Self {
        journal.truncate(0);
        Dpor {
            journal,
            nodes: Vec::new(),
            laters: Vec::new(),
            started: false,
            bound,
            put_off: 0,
            last: 0,
            unasked: false,
            branch: None,
            stuck: None,
            open: false,
            threads: FxHashSet::default(),
        }
    }

    pub(super) fn thread_at(&self, place: usize) -> u32 {
        self.journal.path.event(place).transition.thread
    }

    fn truncate(&mut self, len: usize) {
        self.journal.truncate(len);
        while let Some(later) = self.laters.last()
            && later.deeds.as_ref().map_or(true, |&place| place >= len)
        {
            self.laters.pop();
        }
    }

    /// What to run next from the last node.
    fn choose(&mut self) -> Option<Branch> {
        let place = self.nodes.len() - 1;
        let path = &self.journal.path;
        let node = &mut self.nodes[place];
        let done = (place < path.len()).then(|| &path.event(place).transition);
        if let Some(branch) = node.next_variant(done) {
            return Some(branch);
        }
        let before = place
            .checked_sub(1)
            .map(|place| path.event(place).transition.thread);
        while let Some((branch, preemptions)) = node.next_branch(before) {
            if self.bound.is_some_and(|bound| preemptions > bound) {
                self.put_off += 1;
                node.put_off = true;
                continue;
            }
            node.give(branch.turn);
            return Some(branch);
        }
        None
    }

    /// Asks those to go last who will sleep behind this row, as far as that is known.
    fn ask(&mut self, place: usize, row: &[&Branch]) -> u64 {
        let node = &self.nodes[place];
        let mut sleep: Vec<&Would> = node.seen().collect();
        for branch in row {
            sleep.retain(|would| match &branch.would.deeds {
                Some(deeds) => would.is_apart(branch.turn.thread, deeds),
                None => would.thread != branch.turn.thread,
            });
        }
        self.unasked = sleep.iter().any(|would| would.thread >= u64::BITS);
        sleep
            .iter()
            .filter(|would| would.thread < u64::BITS)
            .fold(0, |last, would| last | 1 << would.thread)
    }

    /// A node behind the last transition.
    fn node(&self, default: Option<u32>) -> Node {
        let place = self.journal.path.len().checked_sub(1);
        let parent = place.map(|place| {
            (
                &self.nodes[place],
                &self.journal.path.event(place).transition,
            )
        });
        let mut node = Node::behind(parent, default);
        let is_whole = |(parent, _): (&Node, _)| parent.key.is_some() || node.sleep.is_empty();
        if parent.is_none_or(is_whole) {
            node.key = Some(self.journal.key());
        }
        node
    }

    /// A node for the next transition, which is this thread's. In a row, it is the branch's next one.
    fn enter(&mut self, thread: u32, branch: &mut Option<Branch>) -> Entered {
        let place = self.journal.path.len();
        let mut tree = branch
            .take()
            .map_or_else(Vec::new, |branch| branch.children);
        let guided = !tree.is_empty();
        let mut node = self.node((!guided).then_some(thread));
        let visit = self.visit(&node, place);
        if let Some(revisit) = self.journal.find(&visit) {
            return Entered::Known(revisit);
        }
        if node.sleeps(thread) {
            // Who was made to go said nothing of the others.
            self.unasked |= guided;
            return Entered::Asleep(Box::new(node));
        }
        if guided {
            let next = tree.remove(0);
            let goes_on = |before| next.first_row().iter().any(|one| one.turn.thread == before);
            node.preempts = place.checked_sub(1).is_some_and(|place| {
                let before = self.thread_at(place);
                before != thread && goes_on(before)
            });
            *branch = Some(next);
        }
        node.tree = tree;
        if self.stuck == Some(place) {
            let others = self.threads.iter().filter(|other| **other != thread);
            node.tree.extend(others.map(|other| Branch::alone(*other)));
        }
        self.nodes.push(node);
        Entered::New
    }

    pub(super) fn look(&mut self, thread: u32, deeds: Vec<Deed>, findings: &mut Findings) -> Later {
        let (arrival, races) = self.journal.look(thread, &deeds, findings);
        Later {
            thread,
            deeds: Err(deeds),
            arrival,
            races,
        }
    }

    /// A thread could not go on at this place of a run that was to begin with this branch.
    fn refused(&mut self, at: usize, branch: Option<Branch>) -> Learned {
        let begin = self.journal.path.len();
        let (Some(mut branch), Some(node)) = (branch, self.nodes.last_mut()) else {
            return Learned::Different;
        };
        node.current = None;
        if at > begin && at < begin + branch.first_row().len() {
            // The beginning of the row is run again, and what comes behind it is open.
            branch.cut_off(at - begin);
            node.tree.insert(0, branch);
            self.stuck = Some(at);
            return Learned::Refused;
        }
        if at != begin {
            return Learned::Different;
        }
        match &mut node.owed {
            Some((owed, waiting)) => {
                if owed.is_empty() {
                    let waiting = std::mem::take(waiting);
                    self.reverse_all(&waiting, false);
                }
            }
            None => {
                if !std::mem::replace(&mut node.desperate, true) {
                    let refused = branch.turn.thread;
                    let others = self.threads.iter().filter(|thread| **thread != refused);
                    node.tree
                        .extend(others.map(|thread| Branch::alone(*thread)));
                }
            }
        }
        Learned::Refused
    }

    /// All races are to be seen the other way round, unless they were. As soon as there was a run behind which more would have followed (it
    /// was cut off, or ended before all threads had), nothing can be said of threads that do not stand in a row.
    pub(super) fn reverse_all(&mut self, more: &[Later], is_whole: bool) {
        let all = self.laters.iter().chain(more);
        let is_contended = all
            .flat_map(|later| &later.races)
            .any(|race| !race.adjacent);
        self.open |= !is_whole || is_contended || self.journal.visited.is_some();
        let (path, open) = (&self.journal.path, self.open);
        for later in self.laters.iter().chain(more) {
            let deeds = match &later.deeds {
                Ok(place) => &path.event(*place).transition.deeds,
                Err(deeds) => deeds,
            };
            for &Race { event, .. } in &later.races {
                let mut row = Row::new(path, event, later.thread, deeds, &later.arrival, open);
                let node = &mut self.nodes[event];
                if !row.is_led_by(node.seen()) {
                    row.put_into(&mut node.tree);
                }
            }
        }
    }

    /// The run is over, and what the threads that have not ended were about to do counts as well.
    fn finish(&mut self, execution: &Execution, findings: &mut Findings) {
        let Some(last) = self.journal.path.len().checked_sub(1) else {
            return;
        };
        let ends = ended_all(&execution.ending);
        let culprit = self.thread_at(last);
        let mut pendings = Vec::new();
        for pending in left_behind(execution, Some(culprit)) {
            if let Some(deed) = pending.deed {
                pendings.push(self.look(pending.thread, vec![deed], findings));
            }
            let node = &mut self.nodes[last];
            let there = |branch: &Branch| branch.turn.thread == pending.thread;
            if ends
                && could_go_on(pending)
                && !node.sleeps(pending.thread)
                && !node.tree.iter().any(there)
            {
                node.tree.push(Branch::alone(pending.thread));
            }
        }
        if ends && let Some(current) = &mut self.nodes[last].current {
            current.ends = true;
        }
        let steps = self.noted(&pendings);
        self.nodes[last].steps.extend(steps);
        let is_whole = !ends || !execution.pending.iter().any(could_go_on);
        self.reverse_all(&pendings, is_whole);
    }

    /// Follows a run as far as it is new.
    fn follow(&mut self, mut execution: Execution, findings: &mut Findings) -> Learned {
        let begin = self.journal.path.len();
        let mut branch = self.branch.take();
        if let Ending::Refused(at) = execution.ending {
            return self.refused(at, branch);
        }
        let strays = branch.as_ref().is_some_and(|branch| {
            let came = execution.transitions.get(begin);
            came.is_none_or(|came| path::turn(came) != branch.turn)
        });
        let beginning = match strays {
            true => Beginning::Different,
            false => self.journal.begin(&execution.transitions),
        };
        match beginning {
            Beginning::Same => {}
            Beginning::Moved => self.give_up_states(),
            Beginning::Different => {
                if let Some(node) = self.nodes.last_mut() {
                    node.current = None;
                }
                return Learned::Different;
            }
        }
        for place in begin..execution.transitions.len() {
            let thread = execution.transitions[place].thread;
            self.threads.insert(thread);
            if self.nodes.len() == place {
                match self.enter(thread, &mut branch) {
                    Entered::New => {}
                    Entered::Asleep(node) => {
                        self.cut(&execution, place, *node, findings);
                        return Learned::Seen;
                    }
                    Entered::Known(revisit) => {
                        self.stuck = None;
                        return self.revisit(&execution, place, &revisit, findings);
                    }
                }
            }
            let transition = std::mem::replace(
                &mut execution.transitions[place],
                Transition {
                    thread,
                    variant: 0,
                    variants: 1,
                    deeds: Vec::new(),
                },
            );
            self.nodes[place].happened(&transition);
            let (arrival, races) = self.journal.step(&transition, findings);
            let step = self.journal.enter(transition, &arrival);
            self.nodes[place].steps.extend(step);
            if !races.is_empty() {
                self.laters.push(Later {
                    thread,
                    deeds: Ok(place),
                    arrival,
                    races,
                });
            }
        }
        self.stuck = None;
        self.finish(&execution, findings);
        match self.journal.end(&[], &execution, false) {
            true => Learned::Run,
            false => Learned::Hidden,
        }
    }
}

impl Policy for Dpor {
    fn next(&mut self) -> Option<Trial> {
        if !self.started {
            self.started = true;
            return Some(Trial::default());
        }
        while !self.nodes.is_empty() {
            let place = self.nodes.len() - 1;
            if let Some(branch) = self.choose() {
                self.truncate(place);
                let mut turns = self.journal.path.turns(place);
                let row = branch.first_row();
                turns.extend(row.iter().map(|branch| branch.turn));
                self.last = self.ask(place, &row);
                self.branch = Some(branch);
                let last = self.last;
                return Some(Trial {
                    turns,
                    repeated: place,
                    last,
                });
            }
            self.leave();
        }
        None
    }

    fn learn(&mut self, execution: Execution, findings: &mut Findings) -> Learned {
        let is_whole = is_own(&execution.ending) || matches!(execution.ending, Ending::Refused(_));
        let learned = self.follow(execution, findings);
        if learned == Learned::Different || (learned == Learned::Run && !is_whole) {
            self.give_up_states();
        }
        learned
    }

    fn put_off(&self) -> u64 {
        self.put_off
    }

    fn journal(&self) -> &Journal {
        &self.journal
    }

    fn into_journal(self: Box<Self>) -> Journal {
        self.journal
    }

    fn bytes(&self) -> usize {
        let nodes: usize = self
            .nodes
            .iter()
            .map(|node| {
                let asleep = node.sleep.capacity() + node.done.capacity();
                size_of::<Node>()
                    + asleep * (size_of::<Would>() + size_of::<Deed>())
                    + node.steps.capacity() * size_of::<Step>()
                    + node.tree.iter().map(Branch::bytes).sum::<usize>()
            })
            .sum();
        nodes + self.journal.bytes()
    }
}
