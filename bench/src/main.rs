//! The comparisons behind the published figures: `bench/run` builds everything and runs this.
//!
//! Every figure is CPU time (user and system), the best of several runs. Of recording it is that of whole
//! processes, which alternate between the programs compared, as a ratio to a named peer: the same kernel built
//! by the same compiler without instrumentation, or with its own ThreadSanitizer. Machines are
//! shared and noisy: differences below a tenth mean nothing.
//!
//! One run of this measures one section of the results and prints it.

mod ablation;
mod abuse;
mod coarse;
mod debian;
mod detectors;
mod explore;
mod facts;
mod kernel;
mod measure;
mod papers;
mod peers;
mod predict;
mod reading;
mod real;
mod replay;
mod report;
mod scan;
mod scenarios;
mod shapes;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("bench: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let mut args = std::env::args_os().skip(1);
    let usage = "usage: deadheat-bench recording|detectors|watch|predict|shapes|ablation|scenarios|replay|explore|papers|scan|abuse|peers|real DEADHEAT \
                 KERNELS-FOLDER WORK-FOLDER [RUNS]";
    let section = args.next().ok_or(usage)?;
    let deadheat = PathBuf::from(args.next().ok_or(usage)?);
    let kernels = PathBuf::from(args.next().ok_or(usage)?);
    let work = PathBuf::from(args.next().ok_or(usage)?);
    let runs = match args.next() {
        Some(text) => text.to_str().and_then(|t| t.parse().ok()).ok_or(usage)?,
        None => 5,
    };
    std::fs::create_dir_all(&work).map_err(|e| format!("{}: {e}", work.display()))?;
    let place = kernel::Place {
        deadheat,
        kernels,
        work,
    };
    let text = match section.to_str() {
        Some("recording") => recording(&place, runs)?,
        Some("detectors") => detectors::measure(&place, runs)?,
        Some("watch") => watch::measure(&place, runs)?,
        Some("predict") => predict::measure()?,
        Some("shapes") => shapes::measure(&place)?,
        Some("ablation") => ablation::measure(&place, runs)?,
        Some("scenarios") => scenarios::measure(&place, runs)?,
        Some("replay") => replay::measure(&place, runs)?,
        Some("explore") => explore::measure(&place)?,
        Some("papers") => papers::measure(&place, runs)?,
        Some("scan") => scan::measure(&place)?,
        Some("peers") => peers::measure(&place, runs)?,
        Some("abuse") => abuse::measure(&place, runs)?,
        Some("real") => real::measure(&place)?,
        _ => return Err(usage.to_owned()),
    };
    print!("{text}");
    Ok(())
}

fn recording(place: &kernel::Place, runs: usize) -> Result<String, String> {
    let mut rows = Vec::new();
    for compiler in kernel::COMPILERS {
        let kernels = kernel::KERNELS.iter();
        for kernel in kernels.filter(|kernel| kernel.language == compiler.language) {
            eprintln!("bench: {} with {}", kernel.name, compiler.name);
            rows.push(measure::kernel(place, kernel, compiler, runs)?);
        }
    }
    eprintln!("bench: the hook alone");
    let hook = measure::hook(place)?;
    eprintln!("bench: facts from machine code");
    let facts = facts::measure(place, runs)?;
    Ok(report::render(&rows, hook, &facts, runs))
}
