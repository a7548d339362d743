//! Small programs with reference counts, executed as they really go: whoever takes a count from 1 to 0 releases. All their
//! interleavings are enumerated, and any of them can be recorded. Nothing here knows the rules for schedules.

use std::collections::{BTreeSet, HashSet};

use deadheat_predict::{Count, Release};
use deadheat_trace::{Addr, Event, LockId, Op, Order, Pc, Step, ThreadId};
use proptest::prelude::*;

/// What a thread does.
#[derive(Clone, Debug)]
pub enum Statement {
    Write(u64),
    Read(u64),
    /// Accesses the block of a count.
    Use(u64),
    Free(u64),
    Up(u64),
    Down(u64, Vec<Statement>),
    /// The same in code without hooks.
    Hidden(u64),
    /// Reads a count, and does something only if it is 1.
    IfOne(u64, Vec<Statement>),
    Locked(Vec<Statement>),
    Fork(u32),
}

/// One step of a thread; those that jump say where to.
#[derive(Clone, Copy, Debug)]
enum Code {
    Access(Op, u64),
    Alloc(u64),
    Free(u64),
    Up(u64),
    Down(u64, usize),
    Hidden(u64),
    Look(u64, usize),
    Acquire,
    Release,
    Fork(u32),
}

/// A program: the code of each thread. The first creates the others.
pub struct Program {
    threads: Vec<Vec<Code>>,
    /// What each count is at the beginning.
    counts: Vec<u64>,
}

/// Where an execution stands.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct State {
    at: Vec<usize>,
    is_there: Vec<bool>,
    counts: Vec<u64>,
    values: Vec<u64>,
    owner: Option<usize>,
}

/// A recorded run.
pub struct Recorded {
    pub steps: Vec<Step>,
    pub counts: Vec<(u32, Count)>,
}

pub const COUNTS: u64 = 2;
const VARIABLES: u64 = 2;
const LOCK: LockId = LockId(0);

fn block(count: u64) -> u64 {
    0x1000 + 0x100 * count
}

impl Recorded {
    /// Whether nobody uses a block that is gone: of what comes after that nothing can be said.
    pub fn is_sound(&self) -> bool {
        let frees = |free: &Step, step: &Step| {
            free.event.op() == Op::Free
                && (is_race(free, step) || free.event.target() == step.event.target())
        };
        let mut all = self.steps.iter().enumerate();
        all.all(|(at, free)| !self.steps[at + 1..].iter().any(|step| frees(free, step)))
    }
}

impl Program {
    pub fn new(threads: &[Vec<Statement>]) -> Self {
        let mut counts = vec![0i64; COUNTS as usize];
        threads
            .iter()
            .for_each(|thread| owners(thread, &mut counts));
        let mut code = vec![Vec::new(); threads.len()];
        for count in 0..COUNTS {
            code[0].push(Code::Alloc(count));
            code[0].push(Code::Access(Op::Write, block(count)));
        }
        for (code, thread) in code.iter_mut().zip(threads) {
            compile(thread, code);
        }
        Program {
            threads: code,
            counts: counts
                .into_iter()
                .map(|count| count.max(1) as u64)
                .collect(),
        }
    }

    /// A count begins with so many owners.
    pub fn share(&mut self, count: u64, owners: u64) {
        self.counts[count as usize] = owners;
    }

    pub fn start(&self) -> State {
        let threads = self.threads.len();
        State {
            at: vec![0; threads],
            is_there: (0..threads).map(|thread| thread == 0).collect(),
            counts: vec![0; COUNTS as usize],
            values: vec![0; VARIABLES as usize],
            owner: None,
        }
    }

    fn code(&self, state: &State, thread: usize) -> Option<Code> {
        let code = *self.threads[thread].get(state.at[thread])?;
        state.is_there[thread].then_some(code)
    }

    /// Whether a thread has something to do that it can do now.
    pub fn can(&self, state: &State, thread: usize) -> bool {
        match self.code(state, thread) {
            Some(Code::Acquire) => state.owner.is_none(),
            code => code.is_some(),
        }
    }

    /// Where a thread is, as events have it; `None` if nobody would see what is next.
    pub fn place(&self, state: &State, thread: usize) -> Option<Pc> {
        match self.code(state, thread)? {
            Code::Hidden(_) => None,
            _ => Some(Pc((100 * (thread + 1) + state.at[thread]) as u32)),
        }
    }

    /// One step of a thread, which can do it; the event, if it has one.
    pub fn step(&self, state: &mut State, thread: usize) -> Option<Step> {
        let code = self.code(state, thread)?;
        let place = self.place(state, thread).unwrap_or(Pc::UNKNOWN);
        let id = ThreadId(thread as u32);
        state.at[thread] += 1;
        let access = |op, addr| Step::new(Event::access(id, op, Addr(addr), 8, place));
        let atomic = |op, count| {
            let order = Order::AcqRel;
            Step::new(Event::atomic(id, op, Addr(block(count)), 8, order, place))
        };
        let plain = |op, target| Step::new(Event::new(id, op, target, place));
        Some(match code {
            Code::Access(Op::Write, addr) if addr >= 0x1000 && addr % 0x100 == 0 => {
                let count = (addr - 0x1000) / 0x100;
                state.counts[count as usize] = self.counts[count as usize];
                access(Op::Write, addr).with_written(self.counts[count as usize])
            }
            Code::Access(op, addr) if addr >= 0x1000 => access(op, addr).with_read(7),
            Code::Access(Op::Write, variable) => {
                let value = u64::from(place.0);
                state.values[variable as usize] = value;
                access(Op::Write, 8 * variable + 8).with_written(value)
            }
            Code::Access(op, variable) => {
                access(op, 8 * variable + 8).with_read(state.values[variable as usize])
            }
            Code::Alloc(count) => plain(Op::Alloc, block(count)).with_written(64),
            Code::Free(count) => plain(Op::Free, block(count)),
            Code::Up(count) | Code::Down(count, _) => {
                let value = &mut state.counts[count as usize];
                let before = *value;
                *value = match code {
                    Code::Up(_) => value.wrapping_add(1),
                    _ => value.wrapping_sub(1),
                };
                let step = atomic(Op::AtomicRmw, count).with_read(before);
                let step = step.with_written(*value);
                if let (Code::Down(_, behind), true) = (code, before != 1) {
                    state.at[thread] = behind;
                }
                step
            }
            Code::Hidden(count) => {
                let value = &mut state.counts[count as usize];
                *value = value.wrapping_sub(1);
                return None;
            }
            Code::Look(count, behind) => {
                let value = state.counts[count as usize];
                if value != 1 {
                    state.at[thread] = behind;
                }
                atomic(Op::AtomicRead, count).with_read(value)
            }
            Code::Acquire => {
                state.owner = Some(thread);
                plain(Op::Acquire, u64::from(LOCK.0))
            }
            Code::Release => {
                state.owner = None;
                plain(Op::Release, u64::from(LOCK.0))
            }
            Code::Fork(other) => {
                state.is_there[other as usize] = true;
                plain(Op::Fork, u64::from(other))
            }
        })
    }

    /// Runs the program; who goes on is drawn from `choices`.
    pub fn record(&self, choices: &[usize]) -> Recorded {
        let mut state = self.start();
        let mut recorded = Recorded {
            steps: Vec::new(),
            counts: Vec::new(),
        };
        // Releases that go on: of which count, thread, until where.
        let mut open: Vec<(usize, usize, usize)> = Vec::new();
        let mut choices = choices.iter().cycle();
        loop {
            let able = (0..self.threads.len()).filter(|thread| self.can(&state, *thread));
            let able: Vec<usize> = able.collect();
            if able.is_empty() {
                return recorded;
            }
            let thread = able[choices.next().copied().unwrap_or(0) % able.len()];
            let code = self.code(&state, thread);
            let at = state.at[thread];
            let Some(step) = self.step(&mut state, thread) else {
                continue;
            };
            let position = recorded.steps.len() as u32;
            recorded.steps.push(step);
            open.retain(|(_, whose, behind)| *whose != thread || at < *behind);
            for (number, whose, _) in &open {
                if let (true, Count::Down(release)) =
                    (*whose == thread, &mut recorded.counts[*number].1)
                {
                    let first = release.map_or(position, |release| release.first);
                    *release = Some(Release {
                        first,
                        last: position,
                    });
                }
            }
            match code {
                Some(Code::Up(_)) => recorded.counts.push((position, Count::Up)),
                Some(Code::Down(_, behind)) => {
                    if step.read() == Some(1) {
                        open.push((recorded.counts.len(), thread, behind));
                    }
                    recorded.counts.push((position, Count::Down(None)));
                }
                _ => {}
            }
        }
    }

    /// All pairs of places that are next at once in some execution and race.
    pub fn races(&self) -> BTreeSet<[Pc; 2]> {
        let mut races = BTreeSet::new();
        let start = self.start();
        let mut seen = HashSet::from([start.clone()]);
        let mut open = vec![start];
        while let Some(state) = open.pop() {
            let next: Vec<(Pc, Step)> = (0..self.threads.len())
                .filter_map(|thread| {
                    let place = self.place(&state, thread)?;
                    Some((place, self.step(&mut state.clone(), thread)?))
                })
                .collect();
            for (number, (one, first)) in next.iter().enumerate() {
                for (other, second) in &next[number + 1..] {
                    if is_race(first, second) {
                        let mut pair = [*one, *other];
                        pair.sort_unstable();
                        races.insert(pair);
                    }
                }
            }
            for thread in (0..self.threads.len()).filter(|thread| self.can(&state, *thread)) {
                let mut after = state.clone();
                self.step(&mut after, thread);
                if seen.insert(after.clone()) {
                    open.push(after);
                }
            }
        }
        races
    }

    /// Whether the program itself can go along a schedule, given by the places of its events, and stands in front of a race
    /// then. What nobody sees is done at any time. What the schedule skips, given by its places, is done all the
    /// same if the program does it: then nobody knew what the count is.
    pub fn follows(
        &self,
        schedule: &[(ThreadId, Pc)],
        skipped: &[Pc],
        next: &[(ThreadId, Pc)],
    ) -> bool {
        let mut states = self.with_silent(HashSet::from([self.start()]), skipped);
        for (id, place) in schedule {
            let thread = id.index();
            let able = |state: &State| {
                self.place(state, thread) == Some(*place) && self.can(state, thread)
            };
            let after = states.into_iter().filter(able).map(|mut state| {
                self.step(&mut state, thread);
                state
            });
            states = self.with_silent(after.collect(), skipped);
        }
        states.iter().any(|state| {
            let there = |(id, place): &(ThreadId, Pc)| {
                let is_there = self.place(state, id.index()) == Some(*place);
                let step = self.step(&mut state.clone(), id.index());
                step.filter(|_| is_there)
            };
            let steps: Vec<Step> = next.iter().filter_map(there).collect();
            matches!(&steps[..], [one, other] if is_race(one, other))
        })
    }

    /// These states, and all others that steps lead to which nobody sees.
    fn with_silent(&self, states: HashSet<State>, skipped: &[Pc]) -> HashSet<State> {
        let mut open: Vec<State> = states.iter().cloned().collect();
        let mut all = states;
        while let Some(state) = open.pop() {
            for thread in (0..self.threads.len()).filter(|thread| self.can(&state, *thread)) {
                let place = self.place(&state, thread);
                if place.is_none_or(|place| skipped.contains(&place)) {
                    let mut after = state.clone();
                    self.step(&mut after, thread);
                    if all.insert(after.clone()) {
                        open.push(after);
                    }
                }
            }
        }
        all
    }
}

fn is_race(one: &Step, other: &Step) -> bool {
    let (one, other) = (&one.event, &other.event);
    let frees = |free: &Event, event: &Event| {
        let start = free.target();
        let inside = event.op().is_access() && event.addr().0 >= start;
        free.op() == Op::Free && inside && event.addr().0 < start + 64
    };
    let both = one.op().is_access() && other.op().is_access();
    frees(one, other) || frees(other, one) || both && one.conflicts_with(other)
}

/// How many more share each count in the end than in the beginning, the other way round.
fn owners(statements: &[Statement], counts: &mut [i64]) {
    for statement in statements {
        match statement {
            Statement::Up(count) => counts[*count as usize] -= 1,
            Statement::Hidden(count) => counts[*count as usize] += 1,
            Statement::Down(count, release) => {
                counts[*count as usize] += 1;
                owners(release, counts);
            }
            Statement::Locked(inside) => owners(inside, counts),
            _ => {}
        }
    }
}

fn compile(statements: &[Statement], code: &mut Vec<Code>) {
    for statement in statements {
        match statement {
            Statement::Write(variable) => code.push(Code::Access(Op::Write, *variable)),
            Statement::Read(variable) => code.push(Code::Access(Op::Read, *variable)),
            Statement::Use(count) => code.push(Code::Access(Op::Read, block(*count) + 8)),
            Statement::Free(count) => code.push(Code::Free(*count)),
            Statement::Up(count) => code.push(Code::Up(*count)),
            Statement::Hidden(count) => code.push(Code::Hidden(*count)),
            Statement::Fork(thread) => code.push(Code::Fork(*thread)),
            Statement::Locked(inside) => {
                code.push(Code::Acquire);
                compile(inside, code);
                code.push(Code::Release);
            }
            Statement::Down(count, inside) | Statement::IfOne(count, inside) => {
                let at = code.len();
                code.push(Code::Acquire);
                compile(inside, code);
                let behind = code.len();
                code[at] = match statement {
                    Statement::Down(..) => Code::Down(*count, behind),
                    _ => Code::Look(*count, behind),
                };
            }
        }
    }
}

fn simple() -> impl Strategy<Value = Statement> {
    let (variable, count) = (0..VARIABLES, 0..COUNTS);
    prop_oneof![
        3 => variable.clone().prop_map(Statement::Write),
        2 => variable.prop_map(Statement::Read),
        1 => count.clone().prop_map(Statement::Use),
        1 => count.prop_map(Statement::Up),
    ]
}

fn some(of: impl Strategy<Value = Statement>) -> impl Strategy<Value = Vec<Statement>> {
    prop::collection::vec(of, 0..3)
}

/// A release: something, a count that goes down in turn, or nothing but the block.
fn release(count: u64) -> impl Strategy<Value = Vec<Statement>> {
    let inner = some(simple()).prop_map(move |inside| Statement::Down(1 - count, inside));
    let work = some(prop_oneof![2 => simple(), 1 => inner]);
    let freed = work.prop_map(move |mut all| {
        all.push(Statement::Free(count));
        all
    });
    prop_oneof![2 => Just(vec![Statement::Free(count)]), 2 => freed, 1 => some(simple())]
}

fn statement() -> impl Strategy<Value = Statement> {
    let down = (0..COUNTS).prop_flat_map(|count| {
        release(count).prop_map(move |inside| Statement::Down(count, inside))
    });
    prop_oneof![
        4 => simple(),
        4 => down,
        1 => (0..COUNTS, some(simple())).prop_map(|(count, inside)| Statement::IfOne(count, inside)),
        1 => some(simple()).prop_map(Statement::Locked),
    ]
}

/// A thread gives up its share of its own handle at its end.
fn hidden() -> impl Strategy<Value = Option<Statement>> {
    prop::option::weighted(0.3, (0..COUNTS).prop_map(Statement::Hidden))
}

/// Programs of three threads, of which the first creates the others between statements of its own.
pub fn programs() -> impl Strategy<Value = Vec<Vec<Statement>>> {
    let statements = |many| prop::collection::vec(statement(), many);
    (
        statements(0..2),
        statements(1..4),
        statements(0..2),
        (statements(1..4), hidden()),
        (statements(1..4), hidden()),
    )
        .prop_map(|(before, between, after, mut second, mut third)| {
            second.0.extend(second.1);
            third.0.extend(third.1);
            let mut first = before;
            first.push(Statement::Fork(1));
            first.extend(between);
            first.push(Statement::Fork(2));
            first.extend(after);
            vec![first, second.0, third.0]
        })
}
