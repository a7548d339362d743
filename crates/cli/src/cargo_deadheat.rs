//! `cargo deadheat`: what cargo runs for it. It becomes `deadheat cargo`, which lies beside.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1).peekable();
    // Cargo repeats its command's name.
    args.next_if(|first| first == "deadheat");
    let beside = std::env::current_exe()
        .and_then(|own| own.canonicalize())
        .map(|own| own.with_file_name("deadheat"));
    let path = match beside {
        Ok(path) if path.is_file() => path,
        _ => "deadheat".into(),
    };
    let error = Command::new(&path).arg("cargo").args(args).exec();
    eprintln!(
        "cargo-deadheat: error: cannot run {}: {error}",
        path.display()
    );
    eprintln!("  help: install both programs into the same folder");
    ExitCode::from(3)
}
