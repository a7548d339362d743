//! `deadheat-scan`: the static analyser as a program of its own, so that everything else works without LLVM.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use deadheat_scan::{Error, ir, llvm, source};

/// Finds possible data races and deadlocks in C, C++ and Rust programs without running them.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Find pairs.
    Pairs {
        #[command(flatten)]
        input: Input,
    },
    /// Show the program as the analyses see it.
    Dump {
        #[command(flatten)]
        input: Input,
    },
}

#[derive(clap::Args)]
struct Input {
    /// Sources (.c, .cc, .cpp, .cxx, .rs) and bitcode (.bc, .ll).
    files: Vec<PathBuf>,
    /// Analyse what this compile_commands.json lists.
    #[arg(long, value_name = "FILE")]
    compile_commands: Option<PathBuf>,
    /// Flags for the compiler.
    #[arg(last = true)]
    flags: Vec<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Command::Dump { input } => dump(&input),
        Command::Pairs { input } => pairs(&input),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("deadheat-scan: error: {error}");
            ExitCode::from(3)
        }
    }
}

fn dump(input: &Input) -> Result<(), Error> {
    let program = read(input)?;
    // A reader that has seen enough is no error.
    let _ = write!(std::io::stdout().lock(), "{}", ir::Text(&program));
    Ok(())
}

fn pairs(input: &Input) -> Result<(), Error> {
    let program = read(input)?;
    let model = deadheat_scan::model::Model::user().unwrap();
    let main = program.named("main").unwrap();
    let started = std::time::Instant::now();
    let mut analysis = deadheat_scan::analysis::Analysis::of(&program, &model, &[main]);
    let root = deadheat_scan::pairs::Root {
        function: main,
        is_parallel: false,
    };
    let (pairs, counts) = deadheat_scan::pairs::find(&mut analysis, &[root]);
    let place = |site: deadheat_scan::path::Site| {
        let block = &program.function(site.function).blocks[site.block as usize];
        let place = block.statements[site.statement as usize].place;
        place.map_or(0, |place| program.places[place.index()].line)
    };
    for pair in &pairs {
        let [one, other] = &pair.deeds;
        println!(
            "PAIR {} {} {:?} {:?}",
            place(one.site),
            place(other.site),
            pair.same,
            pair.condition
        );
        if std::env::var_os("VERBOSE").is_some() {
            println!("  {one:?}\n  {other:?}");
            println!(
                "  {:?}",
                one.path
                    .map(|path| (analysis.paths.origin(path), analysis.paths.steps(path)))
            );
            println!(
                "  {:?}",
                other
                    .path
                    .map(|path| (analysis.paths.origin(path), analysis.paths.steps(path)))
            );
            for held in one.held.iter().chain(&other.held) {
                println!(
                    "  held {:?}",
                    (
                        analysis.paths.origin(held.lock),
                        analysis.paths.steps(held.lock)
                    )
                );
            }
        }
    }
    println!(
        "{counts:?} {:?} unknown {:?}",
        started.elapsed(),
        analysis
            .unknown
            .keys()
            .map(|id| &program.function(*id).name)
            .collect::<Vec<_>>()
    );
    Ok(())
}

fn read(input: &Input) -> Result<ir::Program, Error> {
    let made = source::bitcode(
        &input.files,
        input.compile_commands.as_deref(),
        &input.flags,
    )?;
    llvm::read(made.paths())
}
