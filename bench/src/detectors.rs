//! How fast the detectors are: on generated traces in memory, and on a recording.

use std::convert::Infallible;
use std::fmt::Write;
use std::path::Path;

use deadheat_bench::generate::{Generator, Shape};
use deadheat_detect::{Method, Races};
use deadheat_trace::file::TraceFile;
use deadheat_trace::{EventIndex, Steps, Trace};

use crate::kernel::{GCC, Place};
use crate::measure::{own, record_once};

/// How many events lie between two looks at a detector's memory.
const LOOK_EVERY: u64 = 1 << 20;

/// The generated traces: those that RAPID was measured with had these figures too, and one whose
/// accesses keep to no lock.
const SHAPES: [(&str, Shape); 5] = [
    ("1 M, 10 threads, 50 locks", shape(1, 10, 50, 10_000, 1)),
    ("10 M, 16 threads, 200 locks", shape(10, 16, 200, 10_000, 1)),
    (
        "1 M, 4 threads, 10 locks, 100 variables",
        shape(1, 4, 10, 100, 1),
    ),
    ("10 M, the same", shape(10, 4, 10, 100, 1)),
    (
        "1 M, 16 threads, 200 locks, no discipline",
        shape(1, 16, 200, 10_000, 1000),
    ),
];

/// What RAPID took in CPU seconds for traces with the first four of these figures, where it ended.
const RAPID: [(Method, [Option<f64>; 4]); 4] = [
    (Method::Hb, [Some(4.6), Some(52.0), Some(4.9), Some(19.4)]),
    (Method::Shb, [Some(6.6), Some(81.5), Some(4.5), Some(24.0)]),
    (
        Method::Wcp,
        [Some(26.7), Some(416.0), Some(12.0), Some(55.8)],
    ),
    (Method::Syncp, [None, None, Some(112.0), None]),
];

const fn shape(millions: u64, threads: u32, locks: u32, variables: u32, careless: u32) -> Shape {
    Shape {
        events: millions * 1_000_000,
        threads,
        locks,
        variables,
        nesting: 3,
        guarded: 500,
        hot: 500,
        reads: 600,
        careless,
        seed: 1,
    }
}

/// What was measured of one method with one trace.
#[derive(Clone, Copy)]
struct Figure {
    /// Events per CPU second.
    rate: f64,
    /// The most memory that the detector held, in bytes.
    memory: usize,
    racy_events: u64,
    signatures: usize,
}

/// Measures everything and renders it.
pub fn measure(place: &Place, runs: usize) -> Result<String, String> {
    let mut text = String::new();
    let mut figures = Vec::new();
    for (name, shape) in SHAPES {
        eprintln!("bench: detectors, {name}");
        let Ok::<Trace, Infallible>(trace) = Generator::new(shape).collect_trace();
        let figure = |method| best(runs, || Ok(run(method, &mut trace.stream())));
        let row: Result<Vec<Figure>, String> = Method::ALL.into_iter().map(figure).collect();
        figures.push(row?);
    }
    eprintln!("bench: detectors on a recording");
    let recording = recording(place, runs)?;
    // Writing to a string does not fail.
    let _ = write_generated(&mut text, &figures, runs);
    let _ = write_recording(&mut text, &recording);
    Ok(text)
}

/// The figure with the best rate of several.
fn best(runs: usize, mut run: impl FnMut() -> Result<Figure, String>) -> Result<Figure, String> {
    let mut best = run()?;
    for _ in 1..runs {
        let next = run()?;
        if next.rate > best.rate {
            best = next;
        }
    }
    Ok(best)
}

/// Shows a whole trace to a detector.
fn run<S: Steps>(method: Method, steps: &mut S) -> Figure {
    let (mut detector, mut races) = (method.detector(), Races::new());
    let (mut events, mut memory, mut looking) = (0u64, 0, 0.0);
    let start = own();
    while let Ok(Some(step)) = steps.next_step() {
        detector.step(EventIndex(events), &step, steps.tables(), &mut races);
        events += 1;
        if events.is_multiple_of(LOOK_EVERY) {
            let start = own();
            memory = detector.memory().max(memory);
            looking += own() - start;
        }
    }
    detector.finish(steps.tables(), &mut races);
    let seconds = own() - start - looking;
    Figure {
        rate: events as f64 / seconds,
        memory: detector.memory().max(memory),
        racy_events: races.racy_events(),
        signatures: races.found().len(),
    }
}

/// Rates on a recording: from its file, and from memory; and of reading alone.
struct Recording {
    events: usize,
    reading: f64,
    rates: Vec<(Method, [f64; 2])>,
}

fn recording(place: &Place, runs: usize) -> Result<Recording, String> {
    let path = place.work.join("trace.dht");
    record_once(&place.build_ours("hashtable", &GCC)?, "1", &path, "serial")?;
    let open = || TraceFile::open(&path).map_err(|error| error.to_string());
    let trace = open()?.read().collect_trace();
    let trace = trace.map_err(|error| format!("{}: {error}", path.display()))?;
    let mut rates = Vec::new();
    for method in Method::ALL {
        let from_file = best(runs, || Ok(run(method, &mut open()?.read())))?;
        let in_memory = best(runs, || Ok(run(method, &mut trace.stream())))?;
        rates.push((method, [from_file.rate, in_memory.rate]));
    }
    let reading = reading(&path, runs)?;
    let _ = std::fs::remove_file(&path);
    Ok(Recording {
        events: trace.steps.len(),
        reading,
        rates,
    })
}

fn reading(path: &Path, runs: usize) -> Result<f64, String> {
    Ok(crate::reading::read(path, runs)?.rate)
}

fn write_generated(out: &mut String, figures: &[Vec<Figure>], runs: usize) -> std::fmt::Result {
    writeln!(out, "## Detectors off line\n")?;
    writeln!(
        out,
        "Events per CPU second in one thread, the best of {runs} runs, and the most memory that the \
         detector held.\nThe traces are generated (`bench/src/generate.rs`) and lie in memory: half \
         of the accesses in critical\nsections that nest up to three deep, a tenth of the variables \
         with half of the accesses, 10 000 variables\nwhere nothing else is said. One access in a \
         thousand keeps to no lock; in the last trace all do.\n"
    )?;
    let names = SHAPES.iter().map(|(name, _)| *name);
    writeln!(out, "| | {} |", names.collect::<Vec<_>>().join(" | "))?;
    writeln!(out, "|---|{}", "---|".repeat(SHAPES.len()))?;
    for (at, method) in Method::ALL.into_iter().enumerate() {
        let cells = figures.iter().map(|row| {
            let Figure { rate, memory, .. } = row[at];
            format!("{:.1} M/s, {:.1} MB", rate / 1e6, memory as f64 / 1e6)
        });
        writeln!(
            out,
            "| {method} | {} |",
            cells.collect::<Vec<_>>().join(" | ")
        )?;
    }
    writeln!(
        out,
        "\nRaces that were found: accesses that race with an earlier one, and pairs of places.\n"
    )?;
    writeln!(out, "| | {} |", SHAPES.map(|(name, _)| name).join(" | "))?;
    writeln!(out, "|---|{}", "---|".repeat(SHAPES.len()))?;
    for (at, method) in Method::ALL.into_iter().enumerate() {
        let cells = figures
            .iter()
            .map(|row| format!("{} / {}", row[at].racy_events, row[at].signatures));
        writeln!(
            out,
            "| {method} | {} |",
            cells.collect::<Vec<_>>().join(" | ")
        )?;
    }
    writeln!(
        out,
        "\nRAPID (Java), measured before on this kind of machine with generated traces of the same \
         figures (another\ngenerator's; with its time to start and to parse), in events per CPU second. \
         Its sync-preserving engine was\nstopped at the first one after 411 s, with 8 GB.\n"
    )?;
    writeln!(
        out,
        "| | {} |",
        SHAPES[..4]
            .iter()
            .map(|(name, _)| *name)
            .collect::<Vec<_>>()
            .join(" | ")
    )?;
    writeln!(out, "|---|{}", "---|".repeat(4))?;
    for (method, seconds) in RAPID {
        let cells = seconds.iter().zip(SHAPES).map(|(seconds, (_, shape))| {
            let rate = seconds.map(|seconds| shape.events as f64 / seconds);
            rate.map_or("-".to_owned(), |rate| format!("{:.2} M/s", rate / 1e6))
        });
        writeln!(
            out,
            "| {method} | {} |",
            cells.collect::<Vec<_>>().join(" | ")
        )?;
    }
    Ok(())
}

fn write_recording(out: &mut String, recording: &Recording) -> std::fmt::Result {
    writeln!(
        out,
        "\nA recording: one round of the kernel `hashtable` (gcc), serial, {:.1} M events; read from its \
         file while it is\nanalysed, and from memory. Reading alone: {:.0} M events/s.\n",
        recording.events as f64 / 1e6,
        recording.reading / 1e6
    )?;
    writeln!(out, "| | from the file | from memory |\n|---|---|---|")?;
    for (method, [file, memory]) in &recording.rates {
        writeln!(
            out,
            "| {method} | {:.1} M/s | {:.1} M/s |",
            file / 1e6,
            memory / 1e6
        )?;
    }
    Ok(())
}
