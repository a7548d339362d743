//! Reads a trace back: how fast, and what is in it.

use std::path::Path;

use deadheat_trace::Steps;
use deadheat_trace::file::TraceFile;

use crate::measure::own;

/// What a trace holds, and how fast it was read.
pub struct Reading {
    /// Its size on disk.
    pub bytes: u64,
    /// Reads and writes in it.
    pub accesses: u64,
    /// Events per CPU second, from the page cache, one thread, the best of several.
    pub rate: f64,
}

/// Reads a trace several times.
pub fn read(trace: &Path, runs: usize) -> Result<Reading, String> {
    let mut reading = Reading {
        bytes: 0,
        accesses: 0,
        rate: 0.0,
    };
    for _ in 0..=runs {
        let start = own();
        let file = TraceFile::open(trace).map_err(|error| error.to_string())?;
        if let Some(damage) = file.damage().first() {
            return Err(format!("{}: {damage}", trace.display()));
        }
        let mut reader = file.read();
        let (mut events, mut accesses) = (0u64, 0u64);
        while let Ok(Some(step)) = reader.next_step() {
            events += 1;
            accesses += u64::from(step.event.op().is_access());
        }
        reading.bytes = file.size();
        reading.accesses = accesses;
        reading.rate = reading.rate.max(events as f64 / (own() - start));
    }
    Ok(reading)
}
