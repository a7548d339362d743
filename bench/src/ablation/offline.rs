//! One setting over a recording: time, memory, what is kept and what is found.

use std::path::Path;

use deadheat_bench::setting::{Flagged, Setting};
use deadheat_detect::{Channels, Detector, Hybrid, Races, Simple};
use deadheat_trace::file::TraceFile;
use deadheat_trace::{EventIndex, Steps};

use super::LIMIT;
use crate::measure::own;

/// How many events lie between two looks at the clock.
const LOOK_EVERY: u64 = 1 << 10;
/// How many events lie between two looks at the memory.
const WEIGH_EVERY: u64 = 1 << 20;
/// The most memory of a detector, in bytes.
pub const MOST_MEMORY: usize = 2 << 30;

/// A run that came to the end of the trace.
pub struct Run {
    /// CPU seconds, with reading the file.
    pub seconds: f64,
    /// The most memory that the detector held.
    pub memory: usize,
    /// How many accesses it remembers at the end; of the simple mode that is not known.
    pub kept: Option<u64>,
    /// What it found.
    pub races: Races,
}

/// A recording, and what is known of it before the detailed mode sees it.
pub struct Recording<'a> {
    path: &'a Path,
    channels: Channels,
    flagged: Flagged,
}

impl<'a> Recording<'a> {
    /// Reads a recording for its channels, for the most locks that a thread holds, and for what
    /// the simple mode flags.
    pub fn open(path: &'a Path) -> Result<Self, String> {
        let file = TraceFile::open(path).map_err(|error| error.to_string())?;
        let channels = Channels::find(&mut file.read()).map_err(|error| error.to_string())?;
        let mut recording = Recording {
            path,
            channels,
            flagged: Flagged::default(),
        };
        let simple = recording.once(Setting::Simple)?;
        let simple = simple.ok_or("the simple mode came to no end")?;
        recording.flagged = Flagged::by(&simple.races);
        Ok(recording)
    }

    /// How many events it has.
    pub fn events(&self) -> Result<u64, String> {
        let file = TraceFile::open(self.path).map_err(|error| error.to_string())?;
        let (mut steps, mut events) = (file.read(), 0);
        while steps
            .next_step()
            .map_err(|error| error.to_string())?
            .is_some()
        {
            events += 1;
        }
        Ok(events)
    }

    /// One run; `None` if it was given up because of time or memory.
    pub fn once(&self, setting: Setting) -> Result<Option<Run>, String> {
        let Some(options) = setting.options(&self.channels) else {
            return self.pass(setting, &mut Simple::new(), |_| None);
        };
        self.pass(setting, &mut Hybrid::new(options), |hybrid| {
            Some(hybrid.remembered())
        })
    }

    fn pass<D: Detector>(
        &self,
        setting: Setting,
        detector: &mut D,
        kept: impl Fn(&D) -> Option<u64>,
    ) -> Result<Option<Run>, String> {
        let file = TraceFile::open(self.path).map_err(|error| error.to_string())?;
        let (mut steps, mut races) = (file.read(), Races::new());
        let only = (setting == Setting::Flagged).then_some(&self.flagged);
        let (mut events, mut memory, mut weighing) = (0u64, 0, 0.0);
        let start = own();
        while let Some(step) = steps.next_step().map_err(|error| error.to_string())? {
            if only.is_none_or(|only| only.wants(&step.event)) {
                detector.step(EventIndex(events), &step, steps.tables(), &mut races);
            }
            events += 1;
            if events.is_multiple_of(WEIGH_EVERY) {
                let start = own();
                memory = detector.memory().max(memory);
                weighing += own() - start;
            }
            let over = events.is_multiple_of(LOOK_EVERY) && own() - start - weighing > LIMIT;
            if over || memory > MOST_MEMORY {
                return Ok(None);
            }
        }
        detector.finish(steps.tables(), &mut races);
        Ok(Some(Run {
            seconds: own() - start - weighing,
            memory: detector.memory().max(memory),
            kept: kept(detector),
            races,
        }))
    }
}
