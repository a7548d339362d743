//! The truth about a program: all its sequentially consistent interleavings, with vector clocks by the rules
//! of C++20.
//!
//! Independent of every detector here: no other crate of the project is used. A state holds everything that
//! the future depends on, clocks
//! included, so a state that was seen before is not followed again; interleavings that differ in the order of
//! independent steps meet in one state.

use super::flat::{Op, Step, flatten};
use super::program::Program;
use super::state::{Ending, State, Status};
use super::step::{self, Machine};
use std::collections::{BTreeSet, HashMap};

/// What is left open by languages and libraries, decided one way or the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Whether a reader that gives a lock back is before readers that take it later.
    pub readers_order: bool,
    /// Whether one signal may wake several.
    pub wakes_many: bool,
    /// Whether who signals a condition is before who is woken: POSIX says that both synchronise memory, C++
    /// does not.
    pub signals_order: bool,
    /// Whether everything that was sent so far is before what is done after reading any of it, and a close
    /// before what is done after it was noticed. Without, only who sent what was read is.
    pub channels_order_all: bool,
}

impl Rules {
    /// As little as possible is ordered, and one signal wakes one.
    pub const LOOSE: Rules = Rules {
        readers_order: false,
        wakes_many: false,
        signals_order: false,
        channels_order_all: false,
    };
}

/// What a program can do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Truth {
    /// Statements whose accesses are unordered in some interleaving, the smaller number first.
    pub races: BTreeSet<(u32, u32)>,
    /// Statements at which threads stand that never go on again, together.
    pub stuck: BTreeSet<Vec<u32>>,
    /// The same where nobody else can go on either and the process has not ended.
    pub deadlocks: BTreeSet<Vec<u32>>,
    /// Statements that abort.
    pub failures: BTreeSet<u32>,
    /// What may have been printed in the end.
    pub outputs: BTreeSet<String>,
    /// Statements that access a heap block after it was freed.
    pub dangling: BTreeSet<u32>,
    /// Whether one of them writes there: then anything may happen.
    pub corrupts: bool,
    /// How many states there are.
    pub states: usize,
}

impl Truth {
    /// Takes what another truth of the same program has.
    pub fn merge(&mut self, other: Truth) {
        self.races.extend(other.races);
        self.stuck.extend(other.stuck);
        self.deadlocks.extend(other.deadlocks);
        self.failures.extend(other.failures);
        self.outputs.extend(other.outputs);
        self.dangling.extend(other.dangling);
        self.corrupts |= other.corrupts;
        self.states += other.states;
    }
}

/// The truth about a program, if it has at most so many states.
///
/// # Example
///
/// ```
/// use deadheat_fuzz::random::{generate, interpret, program::Language};
/// let program = generate::generate(1, Language::C);
/// let truth = interpret::truth(&program, interpret::Rules::LOOSE, 1_000_000);
/// assert!(truth.is_none_or(|t| !t.outputs.is_empty() || !t.deadlocks.is_empty()));
/// ```
#[must_use]
pub fn truth(program: &Program, rules: Rules, limit: usize) -> Option<Truth> {
    let code: Vec<Vec<Step>> = (0..program.threads.len())
        .map(|t| flatten(program, t))
        .collect();
    let mut search = Search {
        machine: Machine {
            program,
            code: &code,
            rules,
            races: BTreeSet::new(),
            dangling: BTreeSet::new(),
            corrupts: false,
        },
        known: HashMap::new(),
        truth: Truth::default(),
        limit,
    };
    let mut first = State::new(program);
    search.machine.settle(&mut first, 0);
    search.visit(&first)?;
    search.truth.races = search.machine.races;
    search.truth.dangling = search.machine.dangling;
    search.truth.corrupts = search.machine.corrupts;
    search.truth.states = search.known.len();
    Some(search.truth)
}

struct Search<'a> {
    machine: Machine<'a>,
    /// Of each state the threads that may still move from there on.
    known: HashMap<u128, u8>,
    truth: Truth,
    limit: usize,
}

impl Search<'_> {
    /// Follows everything behind a state; the threads that may move there, or nothing if that is too much.
    fn visit(&mut self, state: &State) -> Option<u8> {
        let digest = state.digest();
        if let Some(moving) = self.known.get(&digest) {
            return Some(*moving);
        }
        if self.known.len() >= self.limit {
            return None;
        }
        if let Some(ending) = state.ending {
            self.end(state, ending);
            self.known.insert(digest, 0);
            return Some(0);
        }
        let mut moving = 0_u8;
        for thread in 0..state.threads.len() {
            let next = self.machine.successors(state, thread);
            if !next.is_empty() {
                moving |= 1 << thread;
            }
            for mut after in next {
                after.forget();
                moving |= self.visit(&after)?;
            }
        }
        let mut stuck: Vec<u32> = (0..state.threads.len())
            .filter(|t| moving & (1 << t) == 0)
            .filter_map(|t| self.stands_at(state, t))
            .collect();
        stuck.sort_unstable();
        if !stuck.is_empty() {
            if moving == 0 {
                self.truth.deadlocks.insert(stuck.clone());
                self.truth.outputs.insert(state.output());
                self.truth.outputs.insert(String::new());
            }
            self.truth.stuck.insert(stuck);
        }
        self.known.insert(digest, moving);
        Some(moving)
    }

    /// The statement in front of which a thread is that has begun and not ended.
    fn stands_at(&self, state: &State, thread: usize) -> Option<u32> {
        let t = state.threads.get(thread)?;
        if matches!(t.status, Status::Unborn | Status::Done) {
            return None;
        }
        step::at(self.machine.code, thread, t.pc).map(|s| s.id)
    }

    fn end(&mut self, state: &State, ending: Ending) {
        match ending {
            Ending::Exit => {
                self.truth.outputs.insert(state.output());
            }
            Ending::Quick => {
                self.truth.outputs.insert(state.output());
                self.truth.outputs.insert(String::new());
            }
            Ending::Abort(id) => {
                self.truth.failures.insert(id);
                self.truth.outputs.insert(state.output());
                self.truth.outputs.insert(String::new());
            }
        }
    }
}

/// Whether a step needs no turn of its own.
#[must_use]
pub fn is_silent(step: &Step) -> bool {
    matches!(step.op, Op::Jump(_) | Op::Branch { .. })
}
