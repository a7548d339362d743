//! `deadheat-fuzz random`: options, and the summary.

use super::campaign::{self, Campaign};
use super::program::Language;
use crate::tool::Tool;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Which languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Languages {
    /// C.
    C,
    /// C++.
    Cpp,
    /// Rust.
    Rust,
    /// All of them.
    All,
}

/// Small random programs against the truth of an interpreter.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// The first seed; each further program has the next one
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many programs of each language
    #[arg(long, default_value_t = 100)]
    count: usize,
    /// In which language
    #[arg(long, value_enum, default_value = "all")]
    language: Languages,
    /// How many at a time; most of them wait
    #[arg(long, default_value_t = 6)]
    jobs: usize,
    /// How many programs are built into one executable
    #[arg(long, default_value_t = 24)]
    batch: usize,
    /// How many states a program may have; larger ones are left out
    #[arg(long, default_value_t = 20_000)]
    states: usize,
    /// Replay a finding 20 times in every so many programs
    #[arg(long, default_value_t = 10)]
    replay_every: u64,
    /// Keep what disagrees there, made small
    #[arg(long)]
    keep: Option<PathBuf>,
    /// How often a program is run while it is made small
    #[arg(long, default_value_t = 150)]
    shrink: usize,
    /// The program under test
    #[arg(long)]
    deadheat: Option<PathBuf>,
    /// How many seconds one command may take; more where others use the machine
    #[arg(long, default_value_t = 60)]
    limit: u64,
    /// Only print the program of the seed and its truth
    #[arg(long)]
    show: bool,
    /// Only write the file of the programs there, as a batch that is built into one executable
    #[arg(long, value_name = "FOLDER")]
    write: Option<PathBuf>,
}

/// Runs it.
///
/// # Errors
///
/// If it cannot begin.
pub fn run(options: &Options) -> Result<ExitCode, String> {
    let languages = match options.language {
        Languages::C => vec![Language::C],
        Languages::Cpp => vec![Language::Cpp],
        Languages::Rust => vec![Language::Rust],
        Languages::All => Language::ALL.to_vec(),
    };
    if options.show {
        for language in languages {
            print!("{}", campaign::show(options.seed, language, options.states));
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(folder) = &options.write {
        for language in languages {
            campaign::write(
                options.seed,
                options.count,
                language,
                options.states,
                folder,
            )
            .map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let tool = Tool {
        limit: Duration::from_secs(options.limit),
        ..Tool::find(options.deadheat.clone())?
    };
    let campaign = Campaign {
        tool: tool.clone(),
        seed: options.seed,
        count: options.count,
        languages,
        jobs: options.jobs,
        batch: options.batch,
        states: options.states,
        replay_every: options.replay_every,
        keep: options.keep.clone(),
        shrink: options.shrink,
        scan: tool.deadheat.with_file_name("deadheat-scan").is_file(),
        progress: true,
    };
    let begin = Instant::now();
    let summary = campaign::run(&campaign)?;
    let mut programs = 0;
    for (language, figures) in &summary.figures {
        println!("## {language}\n\n{figures}");
        programs += figures.programs;
    }
    let minutes = begin.elapsed().as_secs_f64() / 60.0;
    println!(
        "{programs} programs in {minutes:.1} minutes ({:.0} per minute), {} disagreements",
        f64::from(u32::try_from(programs).unwrap_or(u32::MAX)) / minutes,
        summary.wrong.len()
    );
    for wrong in &summary.wrong {
        println!("{} seed {}: {}", wrong.language, wrong.seed, wrong.wrong);
    }
    Ok(if summary.wrong.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
