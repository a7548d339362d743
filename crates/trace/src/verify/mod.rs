//! Whether a trace is one: rules that every run of a program keeps.
//!
//! Threads run between their creation and their end, locks have one owner, barriers and
//! semaphores let no more pass than came, blocks of the heap are given back once. In serial traces
//! a read also returns what was written last, byte by byte. Where it does not, code that is not
//! instrumented has written: that is no fault of the trace but a fact that it lacks, so it is
//! counted apart, and [`repair`] puts an explicit [`Op::ExternalWrite`] before such reads.
//!
//! Only what certainly holds is asked. Memory that was given back may be accessed and unlocked
//! mutexes may be destroyed: those are faults of programs. Threads may appear without having been
//! created, and end without saying so. Behind a gap ([`Op::Lost`]) nothing that was known before
//! is relied on: who holds which lock, what memory holds, how many are at a barrier.
//!
//! ```
//! use deadheat_trace::{text, verify};
//!
//! let trace = text::parse("T0|w(x=1)|1\nT0|r(x=2)|2\nT0|end|3\nT0|w(x=3)|4\n")?;
//! let report = verify::verify(&mut trace.stream())?;
//! assert_eq!(report.mismatches, 1);
//! assert_eq!(report.errors, 1);
//! assert_eq!(
//!     report.violations[0].describe(&trace.tables),
//!     "#3 at 4: T0 goes on after its end"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod locks;
mod memory;
mod objects;
mod repair;
mod shadow;
mod threads;
mod violation;

pub use repair::{Repaired, repair, repair_within};
pub use violation::{Mismatch, Rule, Severity, Violation};

use self::locks::Locks;
use self::memory::Memory;
use self::objects::Objects;
use self::threads::Threads;
use crate::hash::FastMap;
use crate::{EventIndex, Mode, Op, Pc, Step, Steps, Tables, ThreadId};

/// How to verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Compare what is read with what was written, in serial traces.
    pub values: bool,
    /// How many errors, warnings and mismatches each to keep in the report; all are counted.
    pub keep: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            values: true,
            keep: 100,
        }
    }
}

/// What was found in a whole trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// How many steps there were.
    pub steps: u64,
    /// The first violations.
    pub violations: Vec<Violation>,
    /// How many violations no run of a program can have.
    pub errors: u64,
    /// How many violations are merely strange.
    pub warnings: u64,
    /// The first reads that returned what the trace did not write.
    pub first_mismatches: Vec<Mismatch>,
    /// How many such reads there were: writes by code that is not instrumented.
    pub mismatches: u64,
    /// How many reads were compared with what was written.
    pub values_checked: u64,
    /// How many gaps there were.
    pub gaps: u64,
}

impl Report {
    /// Whether a run of a program can look like this.
    pub fn is_well_formed(&self) -> bool {
        self.errors == 0
    }
}

/// What was found at one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found<'a> {
    /// The rules that it breaks.
    pub violations: &'a [Violation],
    /// It read something else than what was written last.
    pub mismatch: Option<Mismatch>,
}

/// Verifies a trace step by step. Memory grows with what is alive in the traced program, not with
/// the trace's length.
///
/// ```
/// use deadheat_trace::verify::{Options, Verifier};
/// use deadheat_trace::{EventIndex, text};
///
/// let trace = text::parse("T0|acq(m)|1\nT1|acq(m)|2\n")?;
/// let mut verifier = Verifier::new(trace.mode, Options::default());
/// for (index, step) in trace.steps.iter().enumerate() {
///     let found = verifier.step(EventIndex(index as u64), step);
///     assert_eq!(found.violations.len(), index);
/// }
/// assert!(!verifier.finish(&trace.tables).is_well_formed());
/// # Ok::<(), deadheat_trace::text::ParseError>(())
/// ```
pub struct Verifier {
    /// How many errors, warnings and mismatches each to keep.
    keep: usize,
    values: bool,
    threads: Threads,
    locks: Locks,
    objects: Objects,
    memory: Memory,
    /// Where each thread was created, to name the place if it never runs.
    forks: FastMap<u32, (EventIndex, ThreadId, Pc)>,
    found: Vec<Violation>,
    report: Report,
}

/// So many bytes what memory holds may take. What does not fit is not compared with what is read.
const MOST_CONTENTS: usize = 256 << 20;

impl Verifier {
    /// At the start of a trace.
    pub fn new(mode: Mode, options: Options) -> Self {
        let values = options.values && mode == Mode::Serial;
        Verifier {
            keep: options.keep,
            values,
            threads: Threads::default(),
            locks: Locks::default(),
            objects: Objects::default(),
            memory: Memory::within(values, MOST_CONTENTS),
            forks: FastMap::default(),
            found: Vec::new(),
            report: Report::default(),
        }
    }

    /// The next step, which is the trace's `index`-th.
    #[inline]
    pub fn step(&mut self, index: EventIndex, step: &Step) -> Found<'_> {
        self.found.clear();
        self.report.steps += 1;
        let op = step.event.op();
        let mut mismatch = None;
        if op.is_access() {
            let rule = self.threads.runs(step.event.thread());
            self.note(index, step, rule);
            self.report.values_checked += u64::from(self.values && step.read().is_some());
            if let Some(expected) = self.memory.access(step) {
                mismatch = Some(self.mismatch(index, step, expected));
            }
        } else {
            self.event(index, step, op);
        }
        Found {
            violations: &self.found,
            mismatch,
        }
    }

    /// At the end of the trace.
    pub fn finish(mut self, tables: &Tables) -> Report {
        let mut forks: Vec<_> = std::mem::take(&mut self.forks).into_iter().collect();
        forks.sort_unstable_by_key(|(_, (index, ..))| *index);
        for (peer, (index, thread, pc)) in forks {
            if let Some(rule) = self.threads.never_ran(ThreadId(peer), tables) {
                self.violation(Violation {
                    index,
                    thread,
                    pc,
                    rule,
                });
            }
        }
        self.report
    }

    fn event(&mut self, index: EventIndex, step: &Step, op: Op) {
        let event = &step.event;
        if op == Op::Lost {
            self.report.gaps += 1;
            self.threads.lose();
            self.locks.lose();
            self.objects.lose();
            self.memory.event(step);
            return;
        }
        let rule = self.threads.event(step);
        self.note(index, step, rule);
        let rule = match op {
            Op::Acquire | Op::Release | Op::ReadAcquire | Op::ReadRelease => {
                let ended = |thread| self.threads.has_ended(thread);
                self.locks.event(op, event.lock(), event.thread(), ended)
            }
            Op::Init | Op::Destroy => {
                self.locks.reset(event.sync());
                self.objects.event(step)
            }
            Op::BarrierEnter | Op::BarrierExit | Op::Post | Op::Take => self.objects.event(step),
            Op::Alloc | Op::Free => self.memory.event(step),
            Op::Fork => {
                let place = (index, event.thread(), event.pc());
                self.forks.entry(event.peer().0).or_insert(place);
                None
            }
            _ => None,
        };
        self.note(index, step, rule);
    }

    #[inline]
    fn note(&mut self, index: EventIndex, step: &Step, rule: Option<Rule>) {
        if let Some(rule) = rule {
            let violation = Violation {
                index,
                thread: step.event.thread(),
                pc: step.event.pc(),
                rule,
            };
            self.found.push(violation);
            self.violation(violation);
        }
    }

    #[cold]
    fn violation(&mut self, violation: Violation) {
        let count = match violation.rule.severity() {
            Severity::Error => &mut self.report.errors,
            Severity::Warning => &mut self.report.warnings,
        };
        *count += 1;
        // Each for itself: many warnings do not push out an error.
        if *count <= self.keep as u64 {
            self.report.violations.push(violation);
        }
    }

    #[cold]
    fn mismatch(&mut self, index: EventIndex, step: &Step, expected: u64) -> Mismatch {
        let event = &step.event;
        let mismatch = Mismatch {
            index,
            thread: event.thread(),
            pc: event.pc(),
            addr: event.addr(),
            size: event.size(),
            expected,
            found: step.read().unwrap_or(0),
        };
        self.report.mismatches += 1;
        if self.report.first_mismatches.len() < self.keep {
            self.report.first_mismatches.push(mismatch);
        }
        mismatch
    }
}

/// Verifies a whole trace.
///
/// ```
/// use deadheat_trace::{text, verify};
/// let trace = text::parse("T0|acq(m)|1\nT0|rel(m)|2\n")?;
/// assert!(verify::verify(&mut trace.stream())?.is_well_formed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn verify<S: Steps>(steps: &mut S) -> Result<Report, S::Error> {
    let mut verifier = Verifier::new(steps.mode(), Options::default());
    let mut index = 0;
    while let Some(step) = steps.next_step()? {
        verifier.step(EventIndex(index), &step);
        index += 1;
    }
    Ok(verifier.finish(steps.tables()))
}
