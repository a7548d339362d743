//! A trace in memory, a part of one, and the stream that both come from.

use crate::{EventIndex, Step, Tables};

/// How a trace was recorded, and so what its order means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// One thread ran at a time: the order of all events is the one that happened, and accesses
    /// have values.
    Serial,
    /// Threads ran free: the order of synchronisation is the one that happened; accesses are
    /// ordered within their thread only and stand where the synchronisation around them allows.
    Parallel,
}

/// A whole trace in memory: small recordings, and everything read from text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// How it was recorded.
    pub mode: Mode,
    /// What its numbers stand for.
    pub tables: Tables,
    /// What happened, in order.
    pub steps: Vec<Step>,
}

/// A part of a trace, in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The position of the first step in the trace.
    pub start: EventIndex,
    /// The steps.
    pub steps: Vec<Step>,
}

/// A trace as a stream, from wherever it comes.
pub trait Steps {
    /// Why a stream may break off.
    type Error: std::error::Error + Send + Sync + 'static;

    /// The next step, or `None` at the end.
    fn next_step(&mut self) -> Result<Option<Step>, Self::Error>;

    /// What the numbers of the steps handed out so far stand for.
    fn tables(&self) -> &Tables;

    /// How the trace was recorded.
    fn mode(&self) -> Mode;

    /// Where in its trace the step that was handed out last stands; `None` if the stream leaves
    /// no steps out, so that counting tells.
    fn last_index(&self) -> Option<EventIndex> {
        None
    }

    /// Whether the step that was handed out last was not recorded: a reader has added it to what was.
    fn is_made_up(&self) -> bool {
        false
    }

    /// Reads the rest into memory.
    fn collect_trace(mut self) -> Result<Trace, Self::Error>
    where
        Self: Sized,
    {
        let mut steps = Vec::new();
        while let Some(step) = self.next_step()? {
            steps.push(step);
        }
        Ok(Trace {
            mode: self.mode(),
            tables: self.tables().clone(),
            steps,
        })
    }
}

/// A trace in memory, read as a stream.
pub struct TraceSteps<'a> {
    trace: &'a Trace,
    next: usize,
}

impl Trace {
    /// The trace as a stream.
    pub fn stream(&self) -> TraceSteps<'_> {
        TraceSteps {
            trace: self,
            next: 0,
        }
    }
}

impl Steps for TraceSteps<'_> {
    type Error = std::convert::Infallible;

    fn next_step(&mut self) -> Result<Option<Step>, Self::Error> {
        let step = self.trace.steps.get(self.next).copied();
        self.next += 1;
        Ok(step)
    }

    fn tables(&self) -> &Tables {
        &self.trace.tables
    }

    fn mode(&self) -> Mode {
        self.trace.mode
    }
}
