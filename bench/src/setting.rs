//! The columns of table 2 of "Hybrid Dynamic Data Race Detection" (O'Callahan and Choi, PPoPP 2003):
//! which detector looks, at what, and which of its rules are switched off.
//!
//! As in the paper a location's history ends with its first race, and the most locks that a thread
//! holds are known from a run before. Where the lockset-subset rule is off, so is its counterpart that the
//! paper does not have: dropping accesses that a later one stands for.

use std::collections::HashSet;

use deadheat_detect::{Channels, HybridOptions, Races};
use deadheat_trace::{Event, Op};

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Setting {
    /// The simple mode.
    Simple,
    /// The detailed mode, of what the simple mode flagged.
    Flagged,
    /// The detailed mode, of everything.
    Detailed,
    /// Without happens-before; with the thread-locality check.
    NoHb,
    /// Without the oversized-lockset rule.
    NoOversized,
    /// Without the oversized-lockset and the lockset-subset rule.
    NoOpts,
}

impl Setting {
    /// All, in the order of the table.
    pub const ALL: [Setting; 6] = [
        Setting::Simple,
        Setting::Flagged,
        Setting::Detailed,
        Setting::NoHb,
        Setting::NoOversized,
        Setting::NoOpts,
    ];

    /// The heading.
    pub const fn name(self) -> &'static str {
        match self {
            Setting::Simple => "simple",
            Setting::Flagged => "detailed, on flagged",
            Setting::Detailed => "detailed",
            Setting::NoHb => "no HB",
            Setting::NoOversized => "no oversized",
            Setting::NoOpts => "no opts",
        }
    }

    /// What the detailed mode does off line; `None` for the simple mode.
    pub fn options(self, channels: &Channels) -> Option<HybridOptions> {
        let subset = self != Setting::NoOpts;
        let options = HybridOptions {
            happens_before: self != Setting::NoHb,
            subset,
            oversized: subset && self != Setting::NoOversized,
            overtake: subset,
            go_on: false,
            channels: channels.clone(),
            ..HybridOptions::default()
        };
        (self != Setting::Simple).then_some(options)
    }

    /// The value of `DEADHEAT_OPTIONS` for live detection.
    pub const fn live_options(self) -> &'static str {
        match self {
            Setting::Simple => "mode=watch:detector=simple",
            Setting::Flagged | Setting::Detailed => "mode=watch:detector=detailed",
            Setting::NoHb => "mode=watch:detector=detailed:no_hb=1",
            Setting::NoOversized => "mode=watch:detector=detailed:no_oversized=1",
            Setting::NoOpts => "mode=watch:detector=detailed:no_oversized=1:no_subset=1",
        }
    }
}

/// The words of memory that the simple mode flagged in a trace.
#[derive(Clone, Debug, Default)]
pub struct Flagged {
    words: HashSet<u64>,
}

impl Flagged {
    /// The words of these races.
    pub fn by(races: &Races) -> Self {
        let words = races.variables().into_iter().map(|addr| addr.0 >> 3);
        Flagged {
            words: words.collect(),
        }
    }

    /// Whether an event is of interest: anything but a plain access to other words.
    pub fn wants(&self, event: &Event) -> bool {
        if !matches!(event.op(), Op::Read | Op::Write) {
            return true;
        }
        let (start, size) = (event.addr().0, event.size().max(1));
        (start >> 3..=start.saturating_add(size - 1) >> 3).any(|word| self.words.contains(&word))
    }
}
