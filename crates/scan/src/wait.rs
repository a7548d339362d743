//! A sign of life on the terminal while a scan takes long.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget};

/// How long nothing is shown.
const PATIENCE: Duration = Duration::from_secs(2);

/// Shows what is being done, on terminals only, until it is dropped.
pub struct Wait {
    bar: ProgressBar,
    _alive: Sender<()>,
}

impl Wait {
    /// Waits for this.
    pub fn new(what: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_message(what);
        let (alive, gone) = channel();
        let shown = bar.clone();
        std::thread::spawn(move || {
            if gone.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                // Hidden by itself where standard error is not a terminal.
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(Duration::from_millis(100));
            }
        });
        Wait { bar, _alive: alive }
    }

    /// The next thing is being done.
    pub fn next(&self, what: &'static str) {
        self.bar.set_message(what);
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
