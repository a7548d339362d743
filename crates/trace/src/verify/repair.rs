//! The writes that a trace lacks, as events of their own.

use super::memory::Memory;
use crate::{Event, EventIndex, Mode, Op, Step, Steps, Tables};

/// A trace with an [`Op::ExternalWrite`] before every read that returned something else than what
/// was written last, so that in the result every read returns what was written last.
///
/// Who wrote is not known: the step carries the thread and place of the read that noticed it, and
/// covers the bytes that were read (of reads larger than eight bytes the first eight, whose value
/// the trace has). Parallel traces, which have no values, pass through as they are.
///
/// ```
/// use deadheat_trace::{Op, Steps, text, verify};
///
/// let trace = text::parse("T0|w(x=1)|1\nT0|r(x=2)|2\n")?;
/// let mut repaired = verify::repair(trace.stream());
/// let mut ops = Vec::new();
/// while let Some(step) = repaired.next_step()? {
///     ops.push((step.event.op(), step.written()));
/// }
/// assert_eq!(ops, [(Op::Write, Some(1)), (Op::ExternalWrite, Some(2)), (Op::Read, None)]);
/// assert_eq!(repaired.inserted(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn repair<S: Steps>(steps: S) -> Repaired<S> {
    repair_within(steps, usize::MAX)
}

/// The same in about so many bytes. What memory holds that does not fit is forgotten, and whoever reads it then is
/// taken to see what an external write has left there.
pub fn repair_within<S: Steps>(steps: S, bytes: usize) -> Repaired<S> {
    Repaired {
        memory: Memory::within(steps.mode() == Mode::Serial, bytes),
        steps,
        pending: None,
        inserted: 0,
        read: 0,
    }
}

/// See [`repair`].
pub struct Repaired<S> {
    steps: S,
    memory: Memory,
    /// The read that follows the write just handed out.
    pending: Option<Step>,
    inserted: u64,
    /// How many steps were read.
    read: u64,
}

impl<S> Repaired<S> {
    /// How many external writes have been inserted so far.
    pub fn inserted(&self) -> u64 {
        self.inserted
    }
}

impl<S: Steps> Steps for Repaired<S> {
    type Error = S::Error;

    fn next_step(&mut self) -> Result<Option<Step>, S::Error> {
        if let Some(read) = self.pending.take() {
            return Ok(Some(read));
        }
        let Some(step) = self.steps.next_step()? else {
            return Ok(None);
        };
        self.read += 1;
        let event = &step.event;
        if !event.op().is_access() {
            self.memory.event(&step);
            return Ok(Some(step));
        }
        let is_forgotten = self.memory.is_forgotten(&step);
        if self.memory.access(&step).is_none() && !is_forgotten {
            return Ok(Some(step));
        }
        self.inserted += 1;
        self.pending = Some(step);
        let (thread, addr, pc) = (event.thread(), event.addr(), event.pc());
        let size = event.size().min(8) as u16;
        let write = Event::access(thread, Op::ExternalWrite, addr, size, pc);
        Ok(Some(
            Step::new(write).with_written(step.read().unwrap_or(0)),
        ))
    }

    fn tables(&self) -> &Tables {
        self.steps.tables()
    }

    fn mode(&self) -> Mode {
        self.steps.mode()
    }

    /// An external write stands where the read does that noticed it.
    fn last_index(&self) -> Option<EventIndex> {
        let counted = self.read.checked_sub(1).map(EventIndex);
        self.steps.last_index().or(counted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    /// Where external writes are added if memory takes so many bytes.
    fn added(listing: &str, bytes: usize) -> Vec<u64> {
        let trace = text::parse(listing).unwrap();
        let mut repaired = repair_within(trace.stream(), bytes);
        let mut added = Vec::new();
        while let Some(step) = repaired.next_step().unwrap() {
            if step.event.op() == Op::ExternalWrite {
                added.push(repaired.last_index().unwrap().0);
            }
        }
        added
    }

    #[test]
    fn what_was_forgotten_is_taken_to_be_changed() {
        let listing = "T0|w(0x1000:8=1)|1
T0|w(0x2000:8=2)|2
T0|r(0x2000:8=2)|3
T0|r(0x1000:8=1)|4
\
                       T0|r(0x1000:8=1)|5
T0|r(0x2000:8=3)|6
";
        assert_eq!(added(listing, usize::MAX), [5]);
        // There is room for one page.
        assert_eq!(added(listing, 1), [3, 5]);
    }
}
