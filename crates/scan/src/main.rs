//! `deadheat-scan`: the static analyser as a program of its own, so that everything else works without LLVM.

use std::path::PathBuf;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::{Parser, ValueEnum};
use deadheat_report::{Finding, json, sarif, seen_from};
use deadheat_scan::filter::{Filter, Glob};
use deadheat_scan::found::{Figures, Scan, Scanned};
use deadheat_scan::left_out::LeftOut;
use deadheat_scan::model::Model;
use deadheat_scan::pairs::Wanted;
use deadheat_scan::show::{self, Shown};
use deadheat_scan::unshared::Unshared;
use deadheat_scan::wait::Wait;
use deadheat_scan::{Error, ir, llvm, roots, source, unwanted};
use serde::Serialize;

const EXAMPLES: &str = "\
Examples:
  deadheat scan src/*.c -- -Iinclude -DX    sources, with flags for the compiler
  deadheat scan --compile-commands build/compile_commands.json
  deadheat scan module.bc                   bitcode
  deadheat scan --explain 3fa1b2c4 prog.c   everything about one warning
  deadheat scan --only src --except 'src/test*' src/*.c
  deadheat scan --format sarif -o races.sarif prog.c

Warnings are ranked, the most urgent first, each with the reasons for its place. They are not
proven: `deadheat check --scan` runs the program and says which of them it could prove.
A pattern of --only and --except is that of a file as it is shown: * stands for anything, also for
several folders, and a folder's name for all in it.

Exit codes:
    0  no warnings, or one was explained
    2  wrong usage, or a file with settings that cannot be read
    3  the program could not be compiled or read
   66  warnings";

/// Finds possible data races and deadlocks in C, C++ and Rust programs without running them.
#[derive(Parser)]
#[command(
    name = "deadheat scan",
    bin_name = "deadheat scan",
    version,
    after_help = EXAMPLES
)]
struct Arguments {
    /// Sources (.c, .cc, .cpp, .cxx, .rs) and bitcode (.bc, .ll).
    files: Vec<PathBuf>,

    /// Analyse what this compile_commands.json lists.
    #[arg(long, value_name = "FILE")]
    compile_commands: Option<PathBuf>,

    /// What more functions mean: a file in the format of Deadheat's own models; `linux` for the kernel.
    #[arg(long, value_name = "FILE")]
    model: Vec<PathBuf>,

    /// Tell everything about the warning with this name.
    #[arg(long, value_name = "ID", conflicts_with = "format")]
    explain: Option<String>,

    /// Show only warnings with a place in such a file; may be given several times.
    #[arg(long, value_name = "GLOB")]
    only: Vec<String>,

    /// Show no warnings with a place in such a file; may be given several times.
    #[arg(long, value_name = "GLOB")]
    except: Vec<String>,

    /// Warnings not to show, in ThreadSanitizer's syntax; may be given several times.
    #[arg(long, value_name = "FILE")]
    suppressions: Vec<PathBuf>,

    /// The configuration, instead of the nearest deadheat.toml.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Every pair of places that may race, also those that say nothing new. Without it each place is in one warning.
    #[arg(long)]
    all_pairs: bool,

    /// How to report what was found.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// How many warnings are shown in text; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 25)]
    limit: usize,

    /// Write the report to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Show the program as the analyses see it.
    #[arg(long, hide = true)]
    dump: bool,

    /// Flags for the compiler.
    #[arg(last = true)]
    flags: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For code hosts and editors: SARIF 2.1.0.
    Sarif,
}

/// There are warnings.
const FINDINGS: u8 = 66;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let red = Style::new()
                .bold()
                .fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));
            anstream::eprintln!("deadheat: {red}error{red:#}: {error}");
            ExitCode::from(error.exit())
        }
    }
}

fn run(arguments: &Arguments) -> Result<u8, Error> {
    let suppressions =
        unwanted::suppressions(arguments.config.as_deref(), &arguments.suppressions)?;
    let wait = Wait::new("compiling");
    let made = source::bitcode(
        &arguments.files,
        arguments.compile_commands.as_deref(),
        &arguments.flags,
    )?;
    let is_linux = arguments
        .model
        .iter()
        .any(|name| name.as_os_str() == "linux");
    let mut model = match is_linux {
        true => Model::linux()?,
        false => Model::user()?,
    };
    for path in arguments
        .model
        .iter()
        .filter(|name| name.as_os_str() != "linux")
    {
        model.read_file(path)?;
    }
    wait.next("reading bitcode");
    let mut program = llvm::read_with(made.paths(), &|name| model.knows(name))?;
    let here = std::env::current_dir().ok();
    for file in &mut program.files {
        *file = seen_from(here.as_deref(), file);
    }
    if arguments.dump {
        arguments.write(&ir::Text(&program).to_string())?;
        return Ok(0);
    }
    wait.next("looking for possible races and deadlocks");
    let roots = roots::of(&program, &model);
    let wanted = match arguments.all_pairs || arguments.explain.is_some() {
        true => Wanted::All,
        false => Wanted::EachPlace,
    };
    let mut scan = Scan::of(&program, &model, &roots, wanted);
    if let Some(id) = &arguments.explain {
        let told = scan.explain(id);
        drop(wait);
        arguments.write(&told.ok_or_else(|| Error::NoSuchWarning { id: id.clone() })?)?;
        return Ok(0);
    }
    let mut scanned = scan.scanned();
    drop(wait);
    let globs = |all: &[String]| all.iter().map(|text| Glob::new(text)).collect();
    let filter = Filter {
        only: globs(&arguments.only),
        except: globs(&arguments.except),
    };
    let mut findings = std::mem::take(&mut scanned.findings);
    let all = findings.len();
    findings.retain(|finding| filter.shows(finding));
    let filtered = findings.len();
    findings.retain(|finding| !suppressions.match_finding(finding));
    let hidden = [all - filtered, filtered - findings.len()];
    arguments.write(&arguments.report(&scanned, &findings, hidden))?;
    for what in &scanned.left_out {
        anstream::eprintln!("deadheat: not analysed: {}", what.told());
    }
    Ok(match findings.is_empty() {
        true => 0,
        false => FINDINGS,
    })
}

/// Figures for programs.
#[derive(Serialize)]
struct Stats<'a> {
    #[serde(flatten)]
    figures: &'a Figures,
    not_analysed: &'a [LeftOut],
    unshared: &'a [Unshared],
}

impl Arguments {
    fn report(&self, scanned: &Scanned, findings: &[Finding], hidden: [usize; 2]) -> String {
        match self.format {
            Format::Text => {
                let limit = match self.limit {
                    0 => usize::MAX,
                    limit => limit,
                };
                let shown = Shown {
                    findings,
                    limit,
                    hidden,
                };
                show::text(scanned, &shown)
            }
            Format::Json => {
                let stats = Stats {
                    figures: &scanned.figures,
                    not_analysed: &scanned.left_out,
                    unshared: &scanned.unshared,
                };
                json::report(findings, &stats) + "\n"
            }
            Format::Sarif => sarif::report(findings, env!("CARGO_PKG_VERSION")) + "\n",
        }
    }

    /// Writes a report: coloured only where a person looks at it.
    fn write(&self, text: &str) -> Result<(), Error> {
        use std::io::Write;
        match &self.output {
            Some(path) => {
                let plain = anstream::adapter::strip_str(text).to_string();
                std::fs::write(path, plain).map_err(|source| Error::Unwritable {
                    path: path.clone(),
                    source,
                })
            }
            None => {
                // A reader that has seen enough is no error.
                let _ = anstream::stdout().lock().write_all(text.as_bytes());
                Ok(())
            }
        }
    }
}
