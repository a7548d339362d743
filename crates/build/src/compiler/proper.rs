//! Between gcc's driver and the compiler proper: adds instrumentation where the driver must not
//! know of it.
//!
//! `gcc -wrapper deadheat,COMMAND a.c -o a` runs `deadheat COMMAND cc1 ...`, then the same for
//! the assembler and the linker. Only the compiler gets more arguments.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use deadheat_session::error::{Error, Result};

/// The hidden command by which gcc calls back.
pub const COMMAND: &str = "__compiler-proper";

/// Becomes the tool that gcc wants to run.
pub fn run(args: &[OsString]) -> Result<std::convert::Infallible> {
    let Some((tool, rest)) = args.split_first() else {
        return Err(Error::usage(format!("{COMMAND} is for gcc to call")));
    };
    let failed = Command::new(tool).args(extra(tool)).args(rest).exec();
    Err(Error::not_started(format!(
        "cannot run {}: {failed}",
        tool.display()
    )))
}

/// What this tool gets in addition. It stands first, so that a `-fno-sanitize=thread` of the
/// user's still counts.
fn extra(tool: &OsString) -> &'static [&'static str] {
    let name = Path::new(tool).file_name().and_then(|name| name.to_str());
    match name.is_some_and(|name| name.starts_with("cc1")) {
        true => &super::plan::GCC_INSTRUMENT,
        false => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::extra;

    #[test]
    fn only_the_compiler_gets_more() {
        assert!(!extra(&"/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus".into()).is_empty());
        assert!(extra(&"as".into()).is_empty());
        assert!(extra(&"/usr/lib/gcc/x86_64-linux-gnu/12/collect2".into()).is_empty());
    }
}
