//! A sign of life while a prediction takes long. Its workers all tell how far they are.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use deadheat_predict::{Observer, Prediction};
use deadheat_session::progress::PATIENCE;
use deadheat_session::signals;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shows how far it has come, on a terminal and after a while; an interrupt ends the search, not what was found.
pub struct Shown {
    started: Instant,
    bar: Mutex<Option<ProgressBar>>,
}

impl Shown {
    /// Begins.
    pub fn new() -> Self {
        signals::keep_findings();
        Shown {
            started: Instant::now(),
            bar: Mutex::new(None),
        }
    }

    /// Shows nothing any more.
    pub fn end(&self) {
        if let Ok(bar) = self.bar.lock()
            && let Some(bar) = bar.as_ref()
        {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Shown {
    fn progress(&self, done: u64, all: u64, so_far: &Prediction) {
        if self.started.elapsed() < PATIENCE {
            return;
        }
        let Ok(mut bar) = self.bar.lock() else {
            return;
        };
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(all), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} predicting: {percent}% {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar
        });
        bar.set_position(done);
        let figures = &so_far.statistics;
        bar.set_message(format!(
            "{} proven, {} pairs settled{}",
            so_far.races.len() + so_far.deadlocks.len(),
            figures.asked - figures.unknown,
            match figures.unknown {
                0 => String::new(),
                unknown => format!(", {unknown} not"),
            }
        ));
    }

    fn stop(&self) -> &AtomicBool {
        &signals::STOP
    }
}

#[cfg(test)]
mod tests {
    use deadheat_predict::{Effort, NOBODY, Options, Size, Source, predict};

    use super::*;

    /// Deadheat looks at this test itself (`tests/itself.rs`), so it is small.
    #[test]
    fn workers_tell_how_far_they_are_side_by_side() {
        let text: String = (0..6)
            .map(|round| format!("T0|w(x)|{round}0\nT1|w(x)|{round}1\n"))
            .collect();
        let steps = deadheat_trace::text::parse(&text).unwrap().steps;
        let source = Source {
            steps: &steps,
            needed_by: &vec![NOBODY; steps.len()],
            counts: &[],
            is_judged: &|_| true,
        };
        let options = Options {
            size: Size::Events(4),
            budget: Effort::ALL,
            first: Effort::ALL,
            growth: Effort::NONE,
            jobs: 3,
            memory: usize::MAX,
        };
        let mut shown = Shown::new();
        shown.started -= PATIENCE;
        let found = predict(&source, &options, &shown);
        assert!(!found.races.is_empty());
        let bar = shown.bar.lock().unwrap();
        let bar = bar.as_ref().expect("its time had come");
        assert_eq!(Some(bar.position()), bar.length(), "all is done");
        assert!(bar.message().contains("proven"), "{}", bar.message());
    }
}
