//! The ablation of "Hybrid Dynamic Data Race Detection" (O'Callahan and Choi, PPoPP 2003, tables 2 and
//! 3) on our programs: what each mode and each rule of the detailed mode costs, and what it finds.
//!
//! Live, a setting is an option of the runtime. Off line, every setting reads the same recording, so that they differ in nothing but the detector.

pub mod live;
mod offline;
mod tables;
mod verdicts;

use std::path::Path;

use deadheat_bench::setting::Setting;
use deadheat_trace::file::TraceFile;

use crate::kernel::{GCC, Kernel, Place, kernel_of_c};
use crate::measure::record_once;
use live::Live;
use offline::{Recording, Run};
use verdicts::Text;
pub use verdicts::Verdict;

/// The most CPU seconds of a run; one that takes longer is a dash.
pub const LIMIT: f64 = 20.0;
/// A run that took longer is not repeated.
const LONG: f64 = 6.0;

/// The programs, with rounds for the live runs.
const PROGRAMS: [Kernel; 7] = [
    kernel_of_c("matmul", "8"),
    kernel_of_c("quicksort", "5"),
    kernel_of_c("hashtable", "8"),
    kernel_of_c("prodcons", "10"),
    kernel_of_c("tsp", "20"),
    kernel_of_c("sor", "60"),
    kernel_of_c("server", "40"),
];

/// What was measured of a program.
struct Row {
    program: &'static str,
    live: Live,
    offline: Offline,
}

/// What was measured of a program's recording.
pub struct Offline {
    /// How many it has.
    pub events: u64,
    /// How many variables can race.
    pub racy: usize,
    /// By setting.
    pub cells: Vec<Option<Cell>>,
}

/// The best run of a setting.
pub struct Cell {
    run: Run,
    /// What it says.
    pub verdict: Verdict,
}

/// Measures everything and renders it.
pub fn measure(place: &Place, runs: usize) -> Result<String, String> {
    let mut rows = Vec::new();
    for program in &PROGRAMS {
        eprintln!("bench: ablation, {}", program.name);
        let variants = place.build(program.name, &GCC)?;
        let live_program = live::Program {
            plain: &variants.plain,
            ours: &variants.ours,
            argument: program.rounds,
        };
        let source = place.kernels.join(program.name).with_extension("c");
        rows.push(Row {
            program: program.name,
            live: live::measure(&place.work, live_program, runs)?,
            offline: offline(&place.work, &source, &variants.ours, "1", runs)?,
        });
    }
    Ok(tables::render(&rows, runs))
}

/// Records a program with this argument, and has every setting read the recording.
pub fn offline(
    work: &Path,
    source: &Path,
    ours: &Path,
    argument: &str,
    runs: usize,
) -> Result<Offline, String> {
    let path = work.join("ablation.dht");
    record_once(ours, argument, &path, "serial")?;
    let recording = Recording::open(&path)?;
    let file = TraceFile::open(&path).map_err(|error| error.to_string())?;
    let text = Text::read(source, file.tables())?;
    let mut cells = Vec::new();
    for setting in Setting::ALL {
        let run = best(runs, || recording.once(setting))?;
        cells.push(run.map(|run| Cell {
            verdict: text.judge(&run.races),
            run,
        }));
    }
    let events = recording.events()?;
    drop(file);
    let _ = std::fs::remove_file(&path);
    Ok(Offline {
        events,
        racy: text.racy_variables(),
        cells,
    })
}

/// The shortest of several runs.
fn best(
    runs: usize,
    mut run: impl FnMut() -> Result<Option<Run>, String>,
) -> Result<Option<Run>, String> {
    let mut best: Option<Run> = None;
    for _ in 0..runs {
        let Some(next) = run()? else {
            break;
        };
        let long = next.seconds > LONG;
        if best.as_ref().is_none_or(|best| next.seconds < best.seconds) {
            best = Some(next);
        }
        if long {
            break;
        }
    }
    Ok(best)
}
