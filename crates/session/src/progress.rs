//! A sign of life while a long trace is read: on a terminal only, and only after two seconds.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use deadheat_trace::{Mode, Step, Steps, Tables};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::signals;
use crate::terminal::{duration, size};

/// Steps between two looks at the clock.
const STRIDE: u64 = 1 << 16;
/// How long nothing is shown.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// Between two looks at a recording.
const BETWEEN: Duration = Duration::from_millis(250);

/// A stream of steps that shows how far it has come.
pub struct Watched<S> {
    steps: S,
    what: &'static str,
    count: u64,
    started: Instant,
    bar: Option<ProgressBar>,
    /// Behind how many steps it ends where the user wants to stop, if it does.
    ends: Option<u64>,
}

/// So many steps are read of a trace even if the user wants to stop: they take no time to speak of.
pub const AT_ONCE: u64 = 1 << 19;

impl<S> Watched<S> {
    /// Watches `steps`; `what` is being done with them.
    pub fn new(steps: S, what: &'static str) -> Self {
        Watched {
            steps,
            what,
            count: 0,
            started: Instant::now(),
            bar: None,
            ends: None,
        }
    }

    /// The same, at its end as soon as the user wants to stop.
    pub fn until_stopped(mut self) -> Self {
        self.ends = Some(0);
        self
    }

    /// The same, but not before [`AT_ONCE`] steps: what is known of a short trace is told in full.
    pub fn unless_long(mut self) -> Self {
        self.ends = Some(AT_ONCE);
        self
    }

    /// The stream itself.
    pub fn into_inner(self) -> S {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.steps
    }

    #[cold]
    fn show(&mut self) {
        if self.bar.is_none() && self.started.elapsed() > PATIENCE {
            // Hidden by itself where standard error is not a terminal.
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style =
                ProgressStyle::with_template("{spinner} {msg}: {human_pos} events ({per_sec})");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.set_message(self.what);
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.count);
        }
    }
}

impl<S: Steps> Steps for Watched<S> {
    type Error = S::Error;

    #[inline]
    fn next_step(&mut self) -> Result<Option<Step>, S::Error> {
        self.count += 1;
        if self.count.is_multiple_of(STRIDE) {
            self.show();
            if self.ends.is_some_and(|least| self.count >= least) && signals::is_stopped() {
                return Ok(None);
            }
        }
        self.steps.next_step()
    }

    fn tables(&self) -> &Tables {
        self.steps.tables()
    }

    fn mode(&self) -> Mode {
        self.steps.mode()
    }

    fn is_made_up(&self) -> bool {
        self.steps.is_made_up()
    }
}

/// Things that are done one after the other, and how many of them are.
pub struct Counted {
    what: &'static str,
    total: u64,
    done: u64,
    started: Instant,
    bar: Option<ProgressBar>,
}

impl Counted {
    /// So many.
    pub fn new(what: &'static str, total: u64) -> Self {
        Counted {
            what,
            total,
            done: 0,
            started: Instant::now(),
            bar: None,
        }
    }

    /// One more is done.
    pub fn advance(&mut self) {
        self.done += 1;
        if self.bar.is_none() && self.started.elapsed() > PATIENCE {
            let bar = ProgressBar::with_draw_target(Some(self.total), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} {msg}: {pos} of {len}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.set_message(self.what);
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A program that is being recorded: how long, and how much was written.
pub struct Recording {
    trace: PathBuf,
    started: Instant,
    shown: Instant,
    bar: Option<ProgressBar>,
}

impl Recording {
    /// Of a program that has just been started, into this trace.
    pub fn new(trace: PathBuf) -> Self {
        Recording {
            trace,
            started: Instant::now(),
            shown: Instant::now(),
            bar: None,
        }
    }

    /// Called while it goes on: now and then, a look at the file.
    pub fn goes_on(&mut self) {
        if self.started.elapsed() < PATIENCE || self.shown.elapsed() < BETWEEN {
            return;
        }
        self.shown = Instant::now();
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} recording: {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar
        });
        let written = self.trace.metadata().map_or(0, |data| data.len());
        let took = duration(self.started.elapsed());
        bar.set_message(format!("{took}, {} written", size(written)));
        bar.tick();
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost() {
        let text: String = (0..5).map(|i| format!("T0|w(x{i})|{i}\n")).collect();
        let trace = deadheat_trace::text::parse(&text).unwrap();
        let mut watched = Watched::new(trace.stream(), "testing");
        let mut count = 0;
        while watched.next_step().unwrap().is_some() {
            count += 1;
        }
        assert_eq!(count, 5);
    }
}
