//! `deadheat-scan`: the static analyser as a program of its own, so that everything else works without LLVM.

use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::Parser;
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
use deadheat_scan_options::{Arguments, EXAMPLES, Format};
use serde::Serialize;

/// Finds possible data races and deadlocks in C, C++ and Rust programs without running them.
#[derive(Parser)]
#[command(
    name = "deadheat scan",
    bin_name = "deadheat scan",
    version,
    after_help = EXAMPLES
)]
struct Asked {
    #[command(flatten)]
    arguments: Arguments,
}

/// There are warnings.
const FINDINGS: u8 = 66;

fn main() -> ExitCode {
    match run(&Asked::parse()) {
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

fn run(asked: &Asked) -> Result<u8, Error> {
    let arguments = &asked.arguments;
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
        asked.write(&ir::Text(&program).to_string())?;
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
        asked.write(&told.ok_or_else(|| Error::NoSuchWarning { id: id.clone() })?)?;
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
    asked.write(&asked.report(&scanned, &findings, hidden))?;
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

impl Asked {
    fn report(&self, scanned: &Scanned, findings: &[Finding], hidden: [usize; 2]) -> String {
        match self.arguments.format {
            Format::Text => {
                let limit = match self.arguments.limit {
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
        match &self.arguments.output {
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
