//! Functions that a user marks as sending or receiving: messages where those are called.
//!
//! The hybrid paper (section 4.1) lets users mark methods such as *enqueue* and *dequeue*. What a
//! thread did before it called a sending function comes before what another does after it returns
//! from a receiving one of the same pair.

use deadheat_trace::{Event, EventIndex, Mode, Op, Pc, Step, Steps, SyncId, Tables};
use rustc_hash::FxHashMap;

/// What a marked function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mark {
    /// Which pair of functions it belongs to, from 0.
    pub pair: u32,
    /// It sends; otherwise it receives.
    pub sends: bool,
}

impl Mark {
    /// The channel of the pair, far from those that a trace numbers.
    pub const fn channel(self) -> SyncId {
        SyncId(u32::MAX - self.pair)
    }
}

/// A trace with an [`Op::Send`] where a sending function starts and an [`Op::Receive`] where a
/// receiving one ends.
///
/// Which function a thread is in is told by its first event inside. A function in which nothing
/// happens, or that was inlined, is not seen. Added steps have the position of the step beside them.
///
/// ```
/// use deadheat_detect::{Mark, Marked};
/// use deadheat_trace::{Op, Steps, text};
///
/// let trace = text::parse("A|enter|1\nA|w(x)|push.c:3\nA|leave|1\n")?;
/// let push = |pc| (trace.tables.location(pc) == "push.c:3").then_some(Mark { pair: 0, sends: true });
/// let mut marked = Marked::new(trace.stream(), push);
/// let mut ops = Vec::new();
/// while let Some(step) = marked.next_step()? {
///     ops.push(step.event.op());
/// }
/// assert_eq!(ops, [Op::Enter, Op::Send, Op::Write, Op::Leave]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Marked<S, F> {
    steps: S,
    mark: F,
    /// The functions that each thread is in.
    calls: FxHashMap<u32, Vec<Call>>,
    /// What is handed out behind the step before.
    pending: Option<Step>,
    count: u64,
    last: Option<EventIndex>,
}

#[derive(Clone, Copy)]
enum Call {
    /// Nothing has happened inside yet.
    Entered,
    Receives(Mark),
    Other,
}

impl<S: Steps, F: FnMut(Pc) -> Option<Mark>> Marked<S, F> {
    /// The trace `steps`; `mark` answers for a place in which marked function it lies, not counting
    /// those that were inlined there.
    pub fn new(steps: S, mark: F) -> Self {
        Marked {
            steps,
            mark,
            calls: FxHashMap::default(),
            pending: None,
            count: 0,
            last: None,
        }
    }

    /// What is to be handed out before a step.
    fn before(&mut self, step: &Step) -> Option<Step> {
        let event = &step.event;
        let calls = self.calls.entry(event.thread().0).or_default();
        let mut message = None;
        if event.op() != Op::Leave
            && let Some(call @ Call::Entered) = calls.last_mut()
        {
            let mark = (self.mark)(event.pc());
            *call = match mark {
                Some(mark) if !mark.sends => Call::Receives(mark),
                _ => Call::Other,
            };
            message = mark.filter(|mark| mark.sends);
        }
        match event.op() {
            Op::Enter => calls.push(Call::Entered),
            Op::Leave => {
                if let Some(Call::Receives(mark)) = calls.pop() {
                    message = Some(mark);
                }
            }
            Op::End | Op::Lost => calls.clear(),
            _ => {}
        }
        let mark = message?;
        let op = if mark.sends { Op::Send } else { Op::Receive };
        let channel = mark.channel().0.into();
        Some(Step::new(Event::new(
            event.thread(),
            op,
            channel,
            event.pc(),
        )))
    }
}

impl<S: Steps, F: FnMut(Pc) -> Option<Mark>> Steps for Marked<S, F> {
    type Error = S::Error;

    fn next_step(&mut self) -> Result<Option<Step>, S::Error> {
        if let Some(step) = self.pending.take() {
            return Ok(Some(step));
        }
        let Some(step) = self.steps.next_step()? else {
            return Ok(None);
        };
        self.last = self.steps.last_index().or(Some(EventIndex(self.count)));
        self.count += 1;
        match self.before(&step) {
            Some(message) => {
                self.pending = Some(step);
                Ok(Some(message))
            }
            None => Ok(Some(step)),
        }
    }

    fn tables(&self) -> &Tables {
        self.steps.tables()
    }

    fn mode(&self) -> Mode {
        self.steps.mode()
    }

    fn last_index(&self) -> Option<EventIndex> {
        self.last
    }
}
