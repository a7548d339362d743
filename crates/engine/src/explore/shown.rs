//! How far a search is, on a terminal.

use std::time::{Duration, Instant};

use deadheat_explore::search::Progress;
use deadheat_session::progress::PATIENCE;
use deadheat_session::terminal::counted;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A search that is under way: shown on a terminal, after two seconds.
pub struct Shown {
    started: Instant,
    bar: Option<ProgressBar>,
    looked: Instant,
}

impl Default for Shown {
    fn default() -> Self {
        Shown::new()
    }
}

impl Shown {
    /// It begins now.
    pub fn new() -> Self {
        let now = Instant::now();
        Shown {
            started: now,
            bar: None,
            looked: now,
        }
    }

    /// How long it takes so far.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// How far it has come.
    pub fn update(&mut self, progress: &Progress) {
        if self.looked.elapsed() < Duration::from_millis(100) {
            return;
        }
        self.looked = Instant::now();
        if self.bar.is_none() && self.started.elapsed() > PATIENCE {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} searching: {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            let bound = match progress.bound {
                Some(bound) => format!(", up to {}", counted(bound.into(), "preemption")),
                None => String::new(),
            };
            bar.set_message(format!(
                "{}, {}{bound}, {}",
                counted(progress.executions, "execution"),
                counted(progress.states, "state"),
                counted(progress.races, "race"),
            ));
            bar.tick();
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
