//! Which event first depends on what a read saw, by what the program's code tells.
//!
//! An event depends on reads if a branch that was passed before it does, or what it is done to: see
//! [`deadheat_code`]. Facts name the reads of the present activation of a function by their places, or all
//! that was read before it began. What is not known depends on everything that the thread has read.

use deadheat_code::{Depends, Passed};
use deadheat_trace::{Event, Op};
use rustc_hash::FxHashMap;

use crate::NOBODY;
use crate::leave_out::Left;
use crate::needs::{Needed, OpenReads};

/// Follows a trace and notes who needs what.
///
/// ```
/// use deadheat_code::{Depends, Passed};
/// use deadheat_predict::{AboutEvent, CodeNeeds, NOBODY};
/// use deadheat_trace::{Addr, Event, Op, Pc, ThreadId};
///
/// let access = |op| Event::access(ThreadId(0), op, Addr(8), 4, Pc(0));
/// let about = |site, passed| AboutEvent {
///     site: Some(site),
///     passed: Some(passed),
///     done_to: Some(&Depends::Nothing),
///     ..AboutEvent::default()
/// };
/// let mut needs = CodeNeeds::default();
/// needs.step(&access(Op::Read), &about(0x10, &Passed::Straight));
/// needs.step(&access(Op::Read), &about(0x20, &Passed::Straight));
/// let branched = Passed::Branched(Depends::on(vec![0x10], false));
/// needs.step(&access(Op::Write), &about(0x30, &branched));
/// assert_eq!(needs.needed_by(), [2, NOBODY, NOBODY]);
/// ```
#[derive(Debug, Default)]
pub struct CodeNeeds {
    needed: Needed,
    threads: Vec<Vec<Activation>>,
    open: Vec<OpenReads>,
}

/// What is known of an event.
#[derive(Clone, Copy, Debug, Default)]
pub struct AboutEvent<'a> {
    /// Its place in the code.
    pub site: Option<u64>,
    /// What was passed before it.
    pub passed: Option<&'a Passed>,
    /// What it is done to depends on this.
    pub done_to: Option<&'a Depends>,
    /// It is an atomic access that does the same whatever it reads.
    pub is_steady: bool,
}

/// Reads that nobody has needed yet, of one activation of a function.
#[derive(Debug, Default)]
struct Activation {
    /// By their places.
    at: FxHashMap<u64, Open>,
    /// Of functions that were called and have returned, and of places that are not known.
    others: Open,
}

/// Reads of a place.
#[derive(Debug, Default)]
struct Open {
    /// Those that are kept.
    reads: Vec<u32>,
    /// For those that were left out: all reads of the thread before this position are needed.
    before: u32,
}

impl Open {
    fn add(&mut self, other: Open) {
        self.reads.extend(other.reads);
        self.before = self.before.max(other.before);
    }

    fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.before == 0
    }

    fn forget_before(&mut self, position: u32) {
        self.reads.retain(|read| *read >= position);
        if self.before <= position {
            self.before = 0;
        }
    }
}

impl Activation {
    fn is_empty(&self) -> bool {
        self.at.is_empty() && self.others.is_empty()
    }
}

impl CodeNeeds {
    /// The next event, with what is known of it.
    pub fn step(&mut self, event: &Event, known: &AboutEvent) {
        self.sifted(event, known, Left::NOT);
    }

    /// The same, and what becomes of it.
    pub fn sifted(&mut self, event: &Event, known: &AboutEvent, left: Left) {
        let AboutEvent {
            site,
            passed,
            done_to,
            is_steady,
        } = *known;
        let (op, position) = (event.op(), self.needed.count());
        let thread = event.thread().index();
        if thread >= self.threads.len() {
            self.threads.resize_with(thread + 1, Vec::new);
            self.open.resize_with(thread + 1, OpenReads::default);
        }
        if self.threads[thread].is_empty() {
            self.threads[thread].push(Activation::default());
        }
        // Whether a compare-and-swap writes depends on what it reads.
        let needs_itself = op.is_atomic() && op.reads() && !is_steady;
        let is_kept = matches!(left, Left::Kept { .. });
        let by = is_kept.then_some(position);
        if let Left::Kept { needs_before } = left {
            self.needed.push(NOBODY);
            self.open[thread].kept(position, &mut self.needed);
            self.open[thread].need_before(needs_before, by, &mut self.needed);
            if needs_itself {
                self.needed.need(position, position);
            }
        }
        match op {
            // No step of the thread's way.
            Op::ExternalWrite | Op::Begin => return,
            // What it returns may be anything that it has read.
            Op::End | Op::Lost | Op::Exit => self.need(thread, &Depends::Everything, by),
            _ => {
                match passed {
                    Some(Passed::Straight) => {}
                    Some(Passed::Branched(depends)) => self.need(thread, depends, by),
                    None => self.need(thread, &Depends::Everything, by),
                }
                // (What is called or left was passed on the way.)
                if !matches!(op, Op::Enter | Op::Leave) {
                    self.need(thread, done_to.unwrap_or(&Depends::Everything), by);
                }
            }
        }
        match op {
            Op::Enter => self.threads[thread].push(Activation::default()),
            Op::Leave => self.leave(thread),
            _ if op.reads() && !needs_itself => self.read(thread, site, position, left),
            _ => {}
        }
    }

    /// Somebody may need this read.
    fn read(&mut self, thread: usize, site: Option<u64>, position: u32, left: Left) {
        let Some(activation) = self.threads[thread].last_mut() else {
            return;
        };
        let open = match (site, left) {
            (_, Left::Out { needs_before: 0 }) => return,
            (Some(site), _) => activation.at.entry(site).or_default(),
            (None, _) => &mut activation.others,
        };
        match left {
            Left::Kept { .. } => {
                open.reads.push(position);
                self.open[thread].add(position);
            }
            Left::Out { needs_before } => open.before = open.before.max(needs_before),
        }
    }

    /// An event depends on something: it is the first that needs those reads.
    fn need(&mut self, thread: usize, depends: &Depends, by: Option<u32>) {
        let activations = &mut self.threads[thread];
        let (outer, own) = match depends {
            Depends::Nothing => return,
            Depends::Everything => (activations.len(), None),
            Depends::On(sources) => {
                let outer = if sources.before {
                    activations.len() - 1
                } else {
                    0
                };
                (outer, Some(sources))
            }
        };
        let (open, needed) = (&mut self.open[thread], &mut self.needed);
        let mut all = |reads: Open| {
            for read in reads.reads {
                open.need(read, by, needed);
            }
            open.need_before(reads.before, by, needed);
        };
        for activation in activations[..outer]
            .iter_mut()
            .filter(|outer| !outer.is_empty())
        {
            activation.at.drain().for_each(|(_, reads)| all(reads));
            all(std::mem::take(&mut activation.others));
        }
        if let (Some(sources), Some(activation)) = (own, activations.last_mut()) {
            for site in &sources.reads {
                all(activation.at.remove(site).unwrap_or_default());
            }
        }
    }

    /// What a function has read its caller may have got from it.
    fn leave(&mut self, thread: usize) {
        let activations = &mut self.threads[thread];
        let left = activations.pop().unwrap_or_default();
        if activations.is_empty() {
            activations.push(Activation::default());
        }
        if let Some(caller) = activations.last_mut() {
            left.at
                .into_values()
                .for_each(|open| caller.others.add(open));
            caller.others.add(left.others);
        }
    }

    /// For each position the first that needs what was read there.
    pub fn needed_by(self) -> Vec<u32> {
        self.needed.from(0)
    }

    /// The same from a position on, with positions counted from there.
    pub fn from(&self, position: u32) -> Vec<u32> {
        self.needed.from(position)
    }

    /// What lies before a position is not asked for any more.
    pub fn forget_before(&mut self, position: u32) {
        self.needed.forget_before(position);
        for open in &mut self.open {
            open.forget_before(position);
        }
        for activation in self.threads.iter_mut().flatten() {
            activation.others.forget_before(position);
            activation.at.retain(|_, open| {
                open.forget_before(position);
                !open.is_empty()
            });
        }
    }
}
