//! `deadheat`: finds data races and deadlocks from one recorded run.
//!
//! The commands are in [`commands`], each thin: what they do stands in the modules beside, and
//! in the other crates.

mod commands;
mod doctor;
mod format;
mod look;
mod searched;
mod settings;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use deadheat_build::compiler::{self, CompilerName, Language};
use deadheat_build::rust;
use deadheat_session::error::Result;
use deadheat_session::exit::Exit;
use deadheat_session::scratch;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(report_bug));
    // SAFETY: no handler is installed, the signal only gets its default action back: a reader
    // that goes away (`| head`) ends us quietly. No other thread runs yet.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    let ended = run(std::env::args_os().collect());
    scratch::end();
    match ended {
        Ok(code) => code,
        Err(error) => {
            error.print();
            error.exit().into()
        }
    }
}

fn run(args: Vec<OsString>) -> Result<ExitCode> {
    if let Some(name) = args
        .first()
        .and_then(|first| compiler::shims::called_as(first))
        && let Some(parsed) = CompilerName::parse(name)
    {
        match compiler::run_shim(&parsed, name, args[1..].to_vec())? {}
    }
    let called = args.first().map(Path::new).and_then(Path::file_name);
    match called.and_then(OsStr::to_str) {
        Some(rust::WRAPPER) => match rust::run_wrapper(&args[1..])? {},
        Some(rust::DOC_WRAPPER) => match rust::run_rustdoc(&args[1..])? {},
        _ => {}
    }
    // The wrapper is called for every file of a build, with arguments that are not ours.
    let rest = || args.get(2..).unwrap_or_default().to_vec();
    let asks_help = matches!(args.get(2..), Some([only]) if only == "--help");
    match args.get(1).and_then(|arg| arg.to_str()) {
        Some("cc") if !asks_help => match compiler::run(Language::C, rest())? {},
        Some("c++") if !asks_help => match compiler::run(Language::Cxx, rest())? {},
        Some("rustc") if !asks_help => match rust::run(rest())? {},
        Some(compiler::proper::COMMAND) => match compiler::proper::run(&rest())? {},
        _ => commands::run(args),
    }
}

fn report_bug(panic: &std::panic::PanicHookInfo<'_>) {
    debug_assert_eq!(Exit::Bug as u8, 101, "what a panic ends with");
    let place = panic
        .location()
        .map(ToString::to_string)
        .unwrap_or_default();
    let payload = panic.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let what = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let what = what.unwrap_or("no message");
    eprintln!("deadheat: internal error at {place}: {what}");
    eprintln!(
        "  note: this is a bug in Deadheat {}, not in your program.",
        env!("CARGO_PKG_VERSION")
    );
    eprintln!("  help: please report it with the command that you ran and the lines above.");
}
