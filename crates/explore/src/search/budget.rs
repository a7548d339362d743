//! How much a search may cost, how much it has cost, and what it left out.

use std::{fmt, time::Duration};

use super::{Learned, execution::Ending, findings::Findings};

/// How much a search may cost. Nothing is limited by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// How many runs.
    pub executions: Option<u64>,
    /// How long.
    pub time: Option<Duration>,
    /// How many bytes the search itself may take, roughly.
    pub memory: Option<usize>,
}

/// How much was done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// How many runs.
    pub executions: u64,
    /// How many of them turned out to be like one that was seen, only in another order.
    pub redundant: u64,
    /// How many of them were cut off at a state that was known.
    pub cut: u64,
    /// Nothing is cut off any more because states have turned out not to say everything about the program.
    pub hidden: bool,
    /// How many of them ended at once because the thread that was to go on could not.
    pub refused: u64,
    /// How many transitions, all runs together.
    pub transitions: u64,
    /// How many different states were seen.
    pub states: u64,
    /// How many preemptions a run may have at present.
    pub bound: Option<u32>,
    /// How many races were found.
    pub races: u64,
    /// How many ends that a program should not come to.
    pub bad_ends: u64,
}

/// Why a search has not seen all orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// So many turns needed more preemptions than were allowed.
    Preemptions {
        /// How many were allowed.
        bound: u32,
        /// How many turns were not taken.
        turns: u64,
    },
    /// So many runs were stopped because they were too long.
    Long(u64),
    /// So many runs were stopped because nothing happened any more.
    Hung(u64),
    /// So many runs were stopped because the program wanted to do something outside of itself.
    Outside(u64),
    /// Timers fired when no thread could go on, and not at other times.
    Timers,
    /// Joins were refused. Which of several is depends on who joins first.
    Joins,
    /// There were more calls than can be told apart, and with them places in code of libraries.
    Calls,
    /// Signal handlers, or functions for the end of the process, were set while there were several threads.
    Handlers,
    /// Atomic instructions and system calls in assembly, which are not seen, at these places.
    Assembly(String),
    /// Code without hooks, which is not seen, at these places.
    Uninstrumented(String),
    /// These functions change what the C library or the kernel keeps for all threads.
    CommonState(String),
    /// A process that the program has forked has threads of its own: their orders.
    Children,
    /// So many times the same turns led to something else.
    NotDeterministic(u64),
    /// As many runs were made as were allowed.
    Executions(u64),
    /// The time was up.
    Time(Duration),
    /// The search took as much memory as it was allowed.
    Memory(usize),
    /// The search was stopped.
    Stopped,
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cut::Preemptions { bound, turns } => write!(
                f,
                "orders with more than {bound} preemptions were left out ({turns} of them at least)"
            ),
            Cut::Long(runs) => write!(f, "{runs} runs were cut short because they were too long"),
            Cut::Hung(runs) => write!(f, "{runs} runs were stopped because they hung"),
            Cut::Outside(runs) => write!(
                f,
                "{runs} runs were stopped because they wanted something from outside of the program"
            ),
            Cut::Timers => write!(f, "timers fired only when no thread could go on"),
            Cut::Joins => write!(
                f,
                "which of several joins fails was tried in one order only"
            ),
            Cut::Calls => write!(f, "not all calls of functions of libraries were told apart"),
            Cut::Handlers => write!(
                f,
                "when threads set handlers (of signals, of the end of the process) was tried in one order only"
            ),
            Cut::Assembly(places) => {
                write!(f, "what assembly does is not seen ({places})")
            }
            Cut::CommonState(functions) => {
                write!(f, "what threads share by calls of {functions} is not seen")
            }
            Cut::Children => write!(f, "orders of threads of child processes were not tried"),
            Cut::Uninstrumented(places) => write!(
                f,
                "what code without instrumentation accesses is not seen ({places})"
            ),
            Cut::NotDeterministic(times) => write!(
                f,
                "{times} times the program did something else when it was run in the same order again"
            ),
            Cut::Executions(runs) => write!(f, "no more than {runs} runs were allowed"),
            Cut::Time(time) => write!(f, "no more than {} s were allowed", time.as_secs_f64()),
            Cut::Memory(bytes) => write!(f, "no more than {bytes} bytes of memory were allowed"),
            Cut::Stopped => write!(f, "it was stopped"),
        }
    }
}

/// How often memory is looked at, in runs: that takes as long as a run does.
const MEMORY_EVERY: u64 = 64;

/// What was spent.
pub(super) struct Spent {
    budget: Budget,
    began: Duration,
    pub(super) progress: Progress,
    over: Option<Cut>,
    put_off: Option<(u32, u64)>,
    long: u64,
    hung: u64,
    outside: u64,
    different: u64,
}

impl Spent {
    pub(super) fn new(budget: Budget, began: Duration) -> Self {
        Spent {
            budget,
            began,
            progress: Progress::default(),
            over: None,
            put_off: None,
            long: 0,
            hung: 0,
            outside: 0,
            different: 0,
        }
    }

    pub(super) fn begin_round(&mut self, bound: Option<u32>) {
        self.progress.bound = bound;
        (self.long, self.hung, self.outside) = (0, 0, 0);
    }

    pub(super) fn end_round(&mut self, put_off: u64) {
        let bound = self.progress.bound;
        self.put_off = bound.filter(|_| put_off > 0).map(|bound| (bound, put_off));
    }

    /// Whether something is used up.
    pub(super) fn is_over(
        &mut self,
        now: &mut impl FnMut() -> Duration,
        memory: impl FnOnce() -> usize,
    ) -> bool {
        let budget = self.budget;
        let runs = self.progress.executions;
        if let Some(most) = budget.executions.filter(|&most| runs >= most) {
            self.over = Some(Cut::Executions(most));
        } else if let Some(time) = budget.time
            && now().saturating_sub(self.began) >= time
        {
            self.over = Some(Cut::Time(time));
        } else if let Some(most) = budget.memory
            && runs % MEMORY_EVERY == MEMORY_EVERY - 1
            && memory() > most
        {
            self.over = Some(Cut::Memory(most));
        }
        self.over.is_some()
    }

    pub(super) fn stop(&mut self) {
        self.over = Some(Cut::Stopped);
    }

    pub(super) fn count(&mut self, ending: &Ending, transitions: usize) {
        self.progress.executions += 1;
        self.progress.transitions += transitions as u64;
        match ending {
            Ending::Long => self.long += 1,
            Ending::Hung => self.hung += 1,
            Ending::Outside => self.outside += 1,
            _ => {}
        }
    }

    pub(super) fn learned(&mut self, learned: Learned, states: u64, findings: &Findings) {
        match learned {
            Learned::Run => {}
            Learned::Hidden => self.progress.hidden = true,
            Learned::Seen => self.progress.redundant += 1,
            Learned::Revisit => self.progress.cut += 1,
            Learned::Refused => self.progress.refused += 1,
            Learned::Different => self.different += 1,
        }
        self.progress.states = states;
        self.progress.races = findings.races.len() as u64;
        self.progress.bad_ends = findings.bad_ends.len() as u64;
    }

    /// What was left out.
    pub(super) fn cuts(&self) -> Vec<Cut> {
        let put_off = self
            .put_off
            .map(|(bound, turns)| Cut::Preemptions { bound, turns });
        let counted = [
            (self.long, Cut::Long as fn(u64) -> Cut),
            (self.hung, Cut::Hung),
            (self.outside, Cut::Outside),
            (self.different, Cut::NotDeterministic),
        ];
        let counted = counted
            .into_iter()
            .filter(|(runs, _)| *runs > 0)
            .map(|(runs, cut)| cut(runs));
        self.over
            .clone()
            .into_iter()
            .chain(put_off)
            .chain(counted)
            .collect()
    }
}
