//! A stream of steps that somebody else looks at, too: one reading of a trace for several who need all of it.

use deadheat_trace::{EventIndex, Mode, Step, Steps, Tables};

/// Who looks: where a step stands in the trace, the step, and what the trace's numbers stand for.
pub type Look<'a> = Box<dyn FnMut(EventIndex, &Step, &Tables) + 'a>;

/// The same steps, each shown first.
pub struct Shown<'a, S> {
    steps: S,
    look: Look<'a>,
    count: u64,
}

impl<'a, S> Shown<'a, S> {
    /// Shows each step of a stream.
    pub fn new(steps: S, look: Look<'a>) -> Self {
        Shown {
            steps,
            look,
            count: 0,
        }
    }
}

impl<S: Steps> Steps for Shown<'_, S> {
    type Error = S::Error;

    fn next_step(&mut self) -> Result<Option<Step>, S::Error> {
        let step = self.steps.next_step()?;
        if let Some(step) = &step {
            let counted = EventIndex(self.count);
            self.count += 1;
            let index = self.steps.last_index().unwrap_or(counted);
            (self.look)(index, step, self.steps.tables());
        }
        Ok(step)
    }

    fn tables(&self) -> &Tables {
        self.steps.tables()
    }

    fn mode(&self) -> Mode {
        self.steps.mode()
    }

    fn last_index(&self) -> Option<EventIndex> {
        self.steps.last_index()
    }

    fn is_made_up(&self) -> bool {
        self.steps.is_made_up()
    }
}
