//! The paper's processes (Carril, Tichy, SEPS 2015, figures 1 to 3), composed state by state.
//!
//! THREAD is a thread's events, one after the other; MUTEX, FORK, JOIN, SIGNAL and BARRIER say of an event whether they take
//! part in it now. A state of the whole is how far each thread has come: everything else follows from that. RACE is
//! two accesses to common bytes that come one right after the other, and as accesses can always happen, that is two accesses that are both
//! next. A deadlock is a state in which nobody can go on although somebody has not come to its end.
//!
//! Slow and direct: nothing here is shared with what is tested.

use std::collections::HashSet;

use deadheat_trace::{Event, Op, Step};

/// How many of its events each thread has executed.
pub type State = Vec<usize>;

/// All processes of a trace.
pub struct Program<'a> {
    steps: &'a [Step],
    /// THREAD: the positions of each thread's events.
    pub threads: Vec<Vec<usize>>,
    /// SIGNAL: what comes before what.
    signals: Vec<(usize, usize)>,
    /// BARRIER: the same.
    barriers: Vec<(usize, usize)>,
}

/// A critical section: who, which lock, from where to where.
struct Section {
    thread: usize,
    lock: u64,
    from: usize,
    upto: usize,
}

impl<'a> Program<'a> {
    pub fn of(steps: &'a [Step]) -> Self {
        let count = steps.iter().map(|step| step.event.thread().index() + 1);
        let mut threads = vec![Vec::new(); count.max().unwrap_or(0)];
        for (at, step) in steps.iter().enumerate() {
            threads[step.event.thread().index()].push(at);
        }
        let mut program = Program {
            steps,
            threads,
            signals: Vec::new(),
            barriers: Vec::new(),
        };
        program.signals = program.woken();
        program.signals.extend(program.never_waited());
        program.barriers = program.rounds();
        program
    }

    fn event(&self, at: usize) -> &Event {
        &self.steps[at].event
    }

    fn positions(&self, op: Op, target: u64) -> impl DoubleEndedIterator<Item = usize> + '_ {
        let all = 0..self.steps.len();
        all.filter(move |at| self.event(*at).op() == op && self.event(*at).target() == target)
    }

    /// The notification of each wait that was ended by one.
    fn woken(&self) -> Vec<(usize, usize)> {
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for wake in 0..self.steps.len() {
            let event = self.event(wake);
            if event.op() != Op::Wake {
                continue;
            }
            let condition = event.target();
            let own = |at: &usize| *at < wake && self.event(*at).thread() == event.thread();
            let Some(wait) = self.positions(Op::Wait, condition).rev().find(own) else {
                continue;
            };
            let between = (wait..wake).filter(|at| self.event(*at).target() == condition);
            let mut fitting = between.filter(|at| match self.event(*at).op() {
                Op::NotifyAll => true,
                Op::Notify => pairs.iter().all(|(used, _)| used != at),
                _ => false,
            });
            let first = fitting.next();
            pairs.extend(first.map(|notification| (notification, wake)));
        }
        pairs
    }

    fn sections(&self) -> Vec<Section> {
        let mut sections = Vec::new();
        for from in 0..self.steps.len() {
            let event = self.event(from);
            if !matches!(event.op(), Op::Acquire | Op::ReadAcquire) {
                continue;
            }
            let (thread, lock) = (event.thread().index(), event.target());
            let mut depth = 0;
            let own = self.threads[thread].iter().copied().filter(|at| *at > from);
            let upto = own
                .filter(|at| self.event(*at).target() == lock)
                .find(|at| {
                    match self.event(*at).op() {
                        Op::Acquire | Op::ReadAcquire => depth += 1,
                        Op::Release | Op::ReadRelease => depth -= 1,
                        _ => {}
                    }
                    depth < 0
                });
            sections.push(Section {
                thread,
                lock,
                from,
                upto: upto.unwrap_or(self.steps.len()),
            });
        }
        sections
    }

    /// Sections that read what another thread wrote under the same lock, and notified of.
    fn never_waited(&self) -> Vec<(usize, usize)> {
        let sections = self.sections();
        let mut pairs = Vec::new();
        for earlier in &sections {
            let Some(since) = self.notified_at(earlier, &sections) else {
                continue;
            };
            for later in &sections {
                if later.lock != earlier.lock
                    || later.thread == earlier.thread
                    || later.from <= since
                {
                    continue;
                }
                let reads = (later.from..later.upto).filter(|at| {
                    let event = self.event(*at);
                    event.thread().index() == later.thread && event.op().reads()
                });
                let mut sees = reads.map(|read| self.writers(read));
                let sees_it = sees.any(|writers| {
                    writers.iter().any(|write| {
                        self.event(*write).thread().index() == earlier.thread
                            && (earlier.from..earlier.upto).contains(write)
                    })
                });
                if sees_it {
                    pairs.push((since, later.from));
                }
            }
        }
        pairs
    }

    /// The last writes to the bytes that an access touches.
    fn writers(&self, access: usize) -> Vec<usize> {
        let bytes = |at: usize| {
            let event = self.event(at);
            event.target()..event.target() + event.size()
        };
        let last_to = |byte: u64| {
            let mut before = (0..access).rev();
            before.find(|at| self.event(*at).op().writes() && bytes(*at).contains(&byte))
        };
        bytes(access).filter_map(last_to).collect()
    }

    /// From where on it holds what a section's thread notifies of: first of the section's end and the notification.
    fn notified_at(&self, section: &Section, all: &[Section]) -> Option<usize> {
        let own = self.threads[section.thread].iter().copied();
        let mut notifications =
            own.filter(|at| matches!(self.event(*at).op(), Op::Notify | Op::NotifyAll));
        let within = |at: usize, section: &Section| (section.from..section.upto).contains(&at);
        let first = notifications.find(|at| {
            let mine = all.iter().filter(|other| other.thread == section.thread);
            if mine.clone().any(|other| within(*at, other)) {
                return within(*at, section);
            }
            let last = mine
                .filter(|other| other.upto < *at)
                .max_by_key(|other| other.upto);
            last.is_some_and(|last| last.from == section.from)
        })?;
        Some(first.min(section.upto))
    }

    /// Who leaves a barrier comes after all who came to its round, who comes to one after all of the round before.
    fn rounds(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        let is_of = |at: &usize| matches!(self.event(*at).op(), Op::BarrierEnter | Op::BarrierExit);
        let mut barriers: Vec<u64> = (0..self.steps.len())
            .filter(is_of)
            .map(|at| self.event(at).target())
            .collect();
        barriers.sort_unstable();
        barriers.dedup();
        for barrier in barriers {
            let mut rounds: Vec<Vec<usize>> = vec![Vec::new()];
            let mut is_over = false;
            for at in 0..self.steps.len() {
                let event = self.event(at);
                if !is_of(&at) || event.target() != barrier {
                    continue;
                }
                let mine = |enter: &usize| self.event(*enter).thread() == event.thread();
                if event.op() == Op::BarrierExit {
                    let round = rounds.iter().rposition(|round| round.iter().any(mine));
                    let round = round.expect("who leaves has come");
                    pairs.extend(rounds[round].iter().map(|enter| (*enter, at)));
                    is_over |= round + 1 == rounds.len();
                } else {
                    if is_over {
                        rounds.push(Vec::new());
                        is_over = false;
                    }
                    let last = rounds.len() - 1;
                    for before in &rounds[..last] {
                        pairs.extend(before.iter().map(|enter| (*enter, at)));
                    }
                    rounds[last].push(at);
                }
            }
        }
        pairs
    }

    fn has_happened(&self, state: &State, at: usize) -> bool {
        let thread = self.event(at).thread().index();
        let place = self.threads[thread].iter().position(|own| *own == at);
        place.is_some_and(|place| place < state[thread])
    }

    /// MUTEX: how a thread holds a lock, if it does.
    fn holds(&self, state: &State, thread: usize, lock: u64) -> Option<Op> {
        let (mut times, mut how) = (0, Op::Acquire);
        for at in &self.threads[thread][..state[thread]] {
            let event = self.event(*at);
            if event.target() != lock {
                continue;
            }
            match event.op() {
                op @ (Op::Acquire | Op::ReadAcquire) => {
                    if times == 0 {
                        how = op;
                    }
                    times += 1;
                }
                Op::Release | Op::ReadRelease => times -= 1,
                _ => {}
            }
        }
        (times > 0).then_some(how)
    }

    /// Who keeps a lock from a thread that wants it so.
    pub fn keepers(&self, state: &State, thread: usize, lock: u64, how: Op) -> Vec<usize> {
        let others = (0..self.threads.len()).filter(|other| *other != thread);
        let keeps = |other: &usize| {
            let held = self.holds(state, *other, lock);
            held.is_some_and(|held| held == Op::Acquire || how == Op::Acquire)
        };
        others.filter(keeps).collect()
    }

    /// Whether all processes take part in a thread's next event.
    fn can_happen(&self, state: &State, thread: usize) -> bool {
        let Some(&at) = self.threads[thread].get(state[thread]) else {
            return false;
        };
        let event = self.event(at);
        let is_first = state[thread] == 0;
        let mut forks = (0..self.steps.len()).filter(|fork| {
            let fork = self.event(*fork);
            fork.op() == Op::Fork && fork.peer().index() == thread
        });
        if is_first && forks.any(|fork| !self.has_happened(state, fork)) {
            return false;
        }
        let before = self.signals.iter().chain(&self.barriers);
        let mut before = before.filter(|(_, after)| *after == at);
        if before.any(|(before, _)| !self.has_happened(state, *before)) {
            return false;
        }
        match event.op() {
            Op::Join => {
                let peer = event.peer().index();
                let all = self.threads.get(peer).map_or(&[][..], Vec::as_slice);
                let mut ended = all.iter().filter(|own| **own < at);
                ended.all(|own| self.has_happened(state, *own))
            }
            op @ (Op::Acquire | Op::ReadAcquire) => {
                self.keepers(state, thread, event.target(), op).is_empty()
            }
            // A request that is a thread's last event was never granted.
            op @ (Op::Request | Op::ReadRequest)
                if state[thread] + 1 == self.threads[thread].len() =>
            {
                let how = match op {
                    Op::Request => Op::Acquire,
                    _ => Op::ReadAcquire,
                };
                self.keepers(state, thread, event.target(), how).is_empty()
            }
            _ => true,
        }
    }

    /// The threads that can go on.
    pub fn able<'s>(&'s self, state: &'s State) -> impl Iterator<Item = usize> + 's {
        (0..self.threads.len()).filter(|thread| self.can_happen(state, *thread))
    }

    /// The position of a thread's next event.
    pub fn next(&self, state: &State, thread: usize) -> Option<usize> {
        self.threads[thread].get(state[thread]).copied()
    }

    /// All states that can be reached.
    pub fn states(&self) -> Vec<State> {
        let start: State = vec![0; self.threads.len()];
        let mut seen = HashSet::from([start.clone()]);
        let mut all = vec![start];
        let mut looked = 0;
        while looked < all.len() {
            let state = all[looked].clone();
            looked += 1;
            let able: Vec<usize> = self.able(&state).collect();
            for thread in able {
                let mut after = state.clone();
                after[thread] += 1;
                if seen.insert(after.clone()) {
                    all.push(after);
                }
            }
        }
        all
    }

    /// Whether nobody can go on although somebody should.
    pub fn is_deadlock(&self, state: &State) -> bool {
        let has_ended = (0..self.threads.len()).all(|thread| self.next(state, thread).is_none());
        !has_ended && self.able(state).next().is_none()
    }

    /// Whether threads hold each other up in a cycle of locks and joins.
    pub fn has_cycle(&self, state: &State) -> bool {
        let wants = |thread: usize| {
            let at = self.next(state, thread)?;
            if self.event(at).op() == Op::Join {
                let peer = self.event(at).peer().index();
                let is_there = peer < self.threads.len() && self.next(state, peer).is_some();
                return Some(is_there.then_some(peer).into_iter().collect());
            }
            let is_last = state[thread] + 1 == self.threads[thread].len();
            let how = match self.event(at).op() {
                Op::Acquire if !self.steps[at].was_tried() => Op::Acquire,
                Op::ReadAcquire if !self.steps[at].was_tried() => Op::ReadAcquire,
                Op::Request if is_last => Op::Acquire,
                Op::ReadRequest if is_last => Op::ReadAcquire,
                _ => return None,
            };
            let lock = self.event(at).target();
            // Who has it already gets it again.
            self.holds(state, thread, lock)
                .is_none()
                .then(|| self.keepers(state, thread, lock, how))
        };
        let count = self.threads.len();
        let kept: Vec<Vec<usize>> = (0..count)
            .map(|thread| wants(thread).unwrap_or_default())
            .collect();
        (0..count).any(|first| {
            let mut open = kept[first].clone();
            let mut seen: HashSet<usize> = open.iter().copied().collect();
            while let Some(thread) = open.pop() {
                if thread == first {
                    return true;
                }
                open.extend(kept[thread].iter().filter(|next| seen.insert(**next)));
            }
            false
        })
    }

    /// Follows a schedule of synchronisation: accesses happen when their thread's next synchronisation does. The state at
    /// its end, or the event that could not happen.
    pub fn follow(&self, schedule: &[usize]) -> Result<State, usize> {
        let mut state: State = vec![0; self.threads.len()];
        for at in schedule {
            let thread = self.event(*at).thread().index();
            loop {
                if !self.can_happen(&state, thread) {
                    return Err(*at);
                }
                let now = self.next(&state, thread);
                state[thread] += 1;
                if now == Some(*at) {
                    break;
                }
            }
        }
        Ok(state)
    }
}
