//! How fast recordings are read: `cargo run --release --example read_speed -- trace.dht...`
//!
//! Each file is read several times by one thread; the best run counts, in processor time, so that
//! the file is in the page cache and other programs do not matter. One line per file:
//! `file events seconds million-events-per-second`.

use std::path::Path;
use std::time::Instant;

use deadheat_trace::Steps;
use deadheat_trace::file::{OpenError, TraceFile};

const ROUNDS: usize = 5;
/// A round reads the file so often that it takes this long: the clock is coarse.
const ROUND_SECONDS: f64 = 0.2;

fn main() -> Result<(), OpenError> {
    for path in std::env::args_os().skip(1) {
        let mut best = f64::INFINITY;
        let mut events = 0;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let before = seconds(start);
            let mut reads = 0.0;
            while reads == 0.0 || start.elapsed().as_secs_f64() < ROUND_SECONDS {
                events = read(path.as_ref())?;
                reads += 1.0;
            }
            best = best.min((seconds(start) - before) / reads);
        }
        let rate = events as f64 / best / 1e6;
        println!("{} {events} {best:.4} {rate:.1}", path.display());
    }
    Ok(())
}

/// Reads a recording from start to end: how many events it has.
fn read(path: &Path) -> Result<u64, OpenError> {
    let file = TraceFile::open(path)?;
    let mut reader = file.read();
    let (mut events, mut sum) = (0, 0);
    while let Ok(Some(step)) = reader.next_step() {
        events += 1;
        // As a consumer would, look at the event.
        sum ^= step.event.target() ^ step.written().unwrap_or(0);
    }
    std::hint::black_box(sum);
    Ok(events)
}

/// Seconds that this thread was on a processor; where the system does not say, seconds passed.
fn seconds(start: Instant) -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = stat.and_then(|stat| stat.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |ns| ns / 1e9)
}
